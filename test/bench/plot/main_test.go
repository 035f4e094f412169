package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const growing = `[{"file":"growth.svg","title":"Memory","x":"caches","y":"MiB","curves":[
	{"name":"heap","points":[{"x":10,"y":8},{"x":1000,"y":20}]},
	{"name":"resident","points":[{"x":10,"y":40},{"x":1000,"y":60}]}]}]`

func TestAPlotHasItsTitleItsAxesAndACurveEach(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if err := run(strings.NewReader(growing), dir); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(dir, "growth.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"Memory", "caches", "MiB", "heap", "resident", "#0072B2", "#D55E00"} {
		if !strings.Contains(string(content), text) {
			t.Errorf("the picture lacks %q", text)
		}
	}
}

func TestWhatIsNoPlotIsRefused(t *testing.T) {
	tests := map[string]struct{ plots, want string }{
		"no JSON":             {"figure", "read the plots"},
		"not a number":        {`[{"file":"a.svg","curves":[{"points":[{"x":"one"}]}]}]`, "read the plots"},
		"a folder is missing": {`[{"file":"gone/a.svg"}]`, "draw gone/a.svg"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := run(strings.NewReader(tc.plots), t.TempDir())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}
