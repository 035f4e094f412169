package report

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFigures(t *testing.T) {
	tests := map[string]struct{ got, want Figure }{
		"below the bound": {
			AtMost(1.5, "times", "time", 1.3, "13 s against 10 s", "noisy"),
			Figure{Name: "time", Measured: "1.30 times (13 s against 10 s; noisy)", Want: "at most 1.50 times", Verdict: Reached},
		},
		"at the bound":    {AtMost(6, "", "n", 6), Figure{Name: "n", Measured: "6", Want: "at most 6", Verdict: Reached}},
		"above the bound": {AtMost(0, "", "n", 1), Figure{Name: "n", Measured: "1", Want: "at most 0", Verdict: Missed}},
		"without a value": {AtMost(1, "", "n", math.NaN()), Figure{Name: "n", Measured: "NaN", Want: "at most 1", Verdict: Missed}},
		"without a bound": {Unjudged("heap", 12.345, "MiB"), Figure{Name: "heap", Measured: "12.3 MiB", Verdict: Unbounded}},
		"three digits":    {Unjudged("heap", 123.45, "MiB"), Figure{Name: "heap", Measured: "123 MiB", Verdict: Unbounded}},
		"what has failed": {
			Failed("heap", os.ErrNotExist), Figure{Name: "heap", Measured: "file does not exist", Verdict: NotMeasured},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("figure (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAScenarioReplacesItsOwnPartOfThePage(t *testing.T) {
	const other = "\n<!-- begin: make bench, drift -->\nas before\n<!-- end: make bench, drift -->\n"
	page := filepath.Join(t.TempDir(), "speed.md")
	content := "# Speed\n<!-- begin: make bench, images -->\n<!-- end: make bench, images -->\n" + other
	if err := os.WriteFile(page, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, size := range []float64{1, 2} { // The second run replaces the figures of the first.
		if err := WritePage(page, "images", "![a](b.svg)", []Figure{AtMost(25, "MiB", "size", size)}, "2026-01-02: 2 cores"); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := "# Speed\n<!-- begin: make bench, images -->\n\n" +
		"![a](b.svg)\n\n| figure | measured | must reach | verdict |\n| --- | --- | --- | --- |\n| size | 2 MiB | at most 25 MiB | reached |\n\n" +
		"Measured on 2026-01-02: 2 cores.\n\n<!-- end: make bench, images -->\n" + other
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("page (-want +got):\n%s", diff)
	}
	err = WritePage(page, "create", "", nil, "")
	if err == nil || !strings.Contains(err.Error(), `no lines "<!-- begin: make bench, create -->" and`) {
		t.Errorf("error %v of a page without the markers", err)
	}
}

func TestTextIsATable(t *testing.T) {
	var out strings.Builder
	if err := Text(&out, []Figure{Unjudged("heap", 2, "MiB")}); err != nil {
		t.Fatal(err)
	}
	want := "figure   measured   must reach   verdict\nheap     2 MiB                   -\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}
