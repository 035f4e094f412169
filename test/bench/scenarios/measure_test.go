//go:build e2e

package scenarios

import (
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example-inc/memcached-operator/test/bench/environment"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

// TestScenariosMeasure measures so little that the times are of no use. The numbers of requests do not depend on the
// speed of the machine, so they must keep their bounds. The numbers of requests and of allocations and, on the
// architecture of the page, the sizes of images must not exceed the figures of docs/performance.md by more than 5 %.
func TestScenariosMeasure(t *testing.T) {
	log.SetLogger(logr.Discard())
	tree, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	folders := environment.Folders{Tree: tree, Programs: t.TempDir()}
	if err := folders.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	page, err := report.ReadPage("../../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		figures      int
		exact, grown []string
	}{
		"create": {
			5, []string{"requests per new Memcached, without events", "refused requests among them"},
			[]string{"requests per new Memcached, without events", "events per new Memcached"},
		},
		"drift": {7, []string{"requests after 16 annotations and labels by other clients"}, nil},
		"growth": {13, []string{
			"3 Memcacheds at rest for 1s: requests", "1 restarts with 3 Memcacheds: requests after the first lists",
			"a resync of 3 Memcacheds: requests",
		}, nil},
		"pure": {6, nil, []string{
			"compare at rest, one Deployment, allocations", "the same, rendered and stamped before, allocations",
			"plan and render all objects, allocations",
		}},
		"images": {3, nil, []string{
			"image of the operator, compressed", "image of the agent, compressed",
			"image of the program that saves caches, compressed",
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := Bench{
				Folders: folders, Runs: 1, Count: 40, InFlight: []int{2}, Drifts: 8, Sizes: []int{1, 2, 3}, Changes: 2,
				Rest: time.Second, Resync: 2 * time.Second, BenchTime: "5000x", update: func(string) {},
			}
			b.Run = t.TempDir()
			chosen, err := Choose([]string{name}, true)
			if err != nil {
				t.Fatal(err)
			}
			figures, err := chosen[0].measure(&b, t.Context())
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
			if name == "images" && runtime.GOARCH != "amd64" {
				return // The page has the sizes for amd64.
			}
			for _, name := range tc.grown {
				if err := report.CheckGrowth(page, figures, name); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
