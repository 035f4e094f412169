package chart

import (
	"flag"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/page"
)

// What Helm renders of the chart is in test/helm, whose go.mod has Helm.

var update = flag.Bool("update", false, "write the table of docs/helm.md")

const root = "../../.."

func TestTheDocsListEveryValue(t *testing.T) {
	rows, err := Table(root)
	if err != nil {
		t.Fatal(err)
	}
	page.Tables(t, root+"/docs/helm.md", *update, map[string]string{"values": rows})
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
