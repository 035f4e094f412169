package rundir

import (
	"os"
	"path/filepath"
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
