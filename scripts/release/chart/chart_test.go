package chart

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What Helm renders of the chart is in test/helm, whose go.mod has Helm.

var update = flag.Bool("update", false, "write the table of docs/helm.md")

const root = "../../.."

func TestTheDocsListEveryValue(t *testing.T) {
	const page, mark, end = root + "/docs/helm.md", "<!-- values: written by make generate -->\n", "<!-- end -->"
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
		t.Errorf("run make generate (-want +got):\n%s", diff)
	}
}

func TestInvalidInputIsRefused(t *testing.T) {
	tests := map[string]struct {
		options Options
		want    string
	}{
		"no version":             {Options{}, `--version ""`},
		"a version with a v":     {Options{Version: "v0.2.0"}, "begins with a v"},
		"an image without a tag": {Options{Version: "0.2.0", Agent: "agent"}, `--agent-image "agent"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, _, err := Write(root, t.TempDir(), tc.options); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q in it", err, tc.want)
			}
		})
	}
}
