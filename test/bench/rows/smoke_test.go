package rows

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example-inc/memcached-operator/test/bench/lab"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

// TestRowsMeasure measures so little that the figures are of no use. Requests are counted all the same: they don't depend
// on how fast a machine is, so these must reach what they have to.
func TestRowsMeasure(t *testing.T) {
	log.SetLogger(logr.Discard())
	tree, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	programs, err := lab.Build(t.Context(), tree, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		figures int
		exact   []string
	}{
		"create": {4, []string{"requests a new Memcached, events apart", "refused or repeated requests among them"}},
		"drift":  {3, []string{"requests after 16 foreign annotations and labels"}},
		"growth": {12, []string{
			"3 Memcacheds at rest for 1s: requests", "1 restarts with 3: requests but the first lists",
			"a resync of 3: requests",
		}},
		"pure": {6, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &Bench{Tree: tree, Dir: t.TempDir(), Programs: programs, Options: Options{
				Runs: 1, Count: 3, InFlight: []int{2}, Damages: 8, Sizes: []int{1, 2, 3}, Changes: 2,
				Rest: time.Second, Resync: 2 * time.Second, Pure: "1x",
			}}
			chosen, err := Choose([]string{name})
			if err != nil {
				t.Fatal(err)
			}
			figures, err := chosen[0].measure(t.Context(), b, func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			verdicts := map[string]report.Verdict{}
			for _, figure := range figures {
				verdicts[figure.Name] = figure.Verdict
			}
			if len(figures) != tc.figures {
				t.Errorf("%d figures, want %d: %v", len(figures), tc.figures, verdicts)
			}
			for _, name := range tc.exact {
				if verdicts[name] != report.Reached {
					t.Errorf("%q has the verdict %q: %v", name, verdicts[name], figures)
				}
			}
		})
	}
}
