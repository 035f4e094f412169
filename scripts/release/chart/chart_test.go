package chart

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What Helm makes of the chart is in test/helm, whose go.mod has Helm.

var update = flag.Bool("update", false, "write the table of docs/helm.md anew")

const (
	root = "../../.."
	page = root + "/docs/helm.md"
)

func TestTheDocsTellEveryValue(t *testing.T) {
	const mark, end = "<!-- values: written by make golden -->\n", "<!-- end -->"
	before, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := Table(root)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(before), mark)
	_, tail, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no place for the values", page)
	}
	after := head + mark + rows + end + tail
	if *update {
		if err := os.WriteFile(page, []byte(after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(after, string(before)); diff != "" {
		t.Errorf("run make golden (-want +got):\n%s", diff)
	}
}

func TestTheSameReleaseIsTheSameBytes(t *testing.T) {
	o := Options{Version: "0.2.0", Operator: "registry.example.com/team/memcached-operator:0.2.0"}
	write := func(dir string) []byte {
		t.Helper()
		path, err := Write(root, dir, o)
		if err != nil {
			t.Fatal(err)
		}
		if want := filepath.Join(dir, "memcached-operator-0.2.0.tgz"); path != want {
			t.Errorf("Write() = %s, want %s", path, want)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	first := write(t.TempDir())
	if again := write(t.TempDir()); string(again) != string(first) {
		t.Error("a second package has other bytes")
	}
	o.Time = time.Unix(1, 0)
	if another := write(t.TempDir()); string(another) == string(first) {
		t.Error("a package of another time has the same bytes: the time is not in it")
	}
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	tests := map[string]struct {
		options Options
		want    string
	}{
		"no version":                 {Options{}, `--version ""`},
		"a version with a v":         {Options{Version: "v0.2.0"}, "begins with a v"},
		"an image that is not named": {Options{Version: "0.2.0", Agent: "agent"}, `--agent-image "agent"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Write(root, t.TempDir(), tc.options)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Write() = %v, want %q in it", err, tc.want)
			}
		})
	}
}

func TestWhatLooksLikeATemplateStaysAsItIs(t *testing.T) {
	files, err := Build(root, Options{Version: "0.2.0"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `Node {{ "{{" }} $labels.pod }} of the cache`
	if rule := files["templates/prometheusrule-memcached-operator.yaml"]; !strings.Contains(rule, want) {
		t.Errorf("the alerts do not hold %s:\n%.2000s", want, rule)
	}
}

func TestWhatIsNoChartIsNotPushed(t *testing.T) {
	if _, err := Image([]byte("x")); err == nil || !strings.Contains(err.Error(), "no chart") {
		t.Errorf("Image() = %v, want an error", err)
	}
}
