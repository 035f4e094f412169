package report

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestThePageIsReadAsItWasWritten(t *testing.T) {
	page := filepath.Join(t.TempDir(), "speed.md")
	content := "# Speed\n| a | table | of | others |\n<!-- begin: make bench, images -->\n<!-- end: make bench, images -->\n"
	if err := os.WriteFile(page, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []Figure{AtMost(25, "MiB", "size", 13.5), Unjudged("events", 1, "", "of 5")}
	if err := WritePage(page, "images", "", want, "2026-01-02: 2 cores"); err != nil {
		t.Fatal(err)
	}
	got, err := ReadPage(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
}

func TestAFigureThatGrewIsAnError(t *testing.T) {
	page := []Figure{AtMost(400, "", "allocations", 320)}
	tests := map[string]struct {
		now  []Figure
		want string
	}{
		"fewer":              {[]Figure{AtMost(400, "", "allocations", 100)}, ""},
		"five percent more":  {[]Figure{AtMost(400, "", "allocations", 336)}, ""},
		"above five percent": {[]Figure{AtMost(400, "", "allocations", 337)}, "allocations: 337, and 320 on the page: if that is intended, measure the page again"},
		"not measured":       {nil, `no figure is named "allocations"`},
		"no number":          {[]Figure{{Name: "allocations", Measured: "timed out"}}, `allocations: "timed out" is no number`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := CheckGrowth(page, tc.now, "allocations"); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("CheckGrowth() = %q, want %q", got, tc.want)
			}
		})
	}
}
