package rundir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJSONSurvivesARoundTripAndLeavesNoOtherFile(t *testing.T) {
	type state struct{ Port int }
	dir := Dir(filepath.Join(t.TempDir(), "not", "there", "yet"))
	path := dir.Path("state.json")
	for _, want := range []state{{1}, {2}} { // the second replaces the first
		if err := WriteJSON(path, want); err != nil {
			t.Fatal(err)
		}
		var got state
		if err := ReadJSON(path, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	entries, err := os.ReadDir(string(dir))
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v (%v), want only state.json", entries, err)
	}
}

func TestTail(t *testing.T) {
	long := strings.Repeat("early\n", 50) + "late\n"
	tests := map[string]struct {
		content    string
		want, lack string
	}{
		"a short log is shown whole":        {"one\ntwo\n", "  one\n  two\n", ""},
		"of a long log only the end":        {long, "  late\n", strings.Repeat("  early\n", 12)},
		"where the rest is, is always said": {"", "x.log)", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.log")
			if err := os.WriteFile(path, []byte(tc.content), 0o644); err != nil {
				t.Fatal(err)
			}
			got := Tail(path)
			if !strings.Contains(got, tc.want) || tc.lack != "" && strings.Contains(got, tc.lack) {
				t.Errorf("Tail() = %q, want %q in it", got, tc.want)
			}
		})
	}
}
