package sandbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOnlyFoldersUnderACoverHaveToBeUncovered(t *testing.T) {
	dirs := []string{"/home/me/.cache/x", "/var/lib/ci/.cache/x", "/variable", "/tmp/x", "/usr/lib/cni"}
	want := []string{"/var/lib/ci/.cache/x", "/tmp/x"}
	if diff := cmp.Diff(want, isCovered(dirs)); diff != "" {
		t.Error(diff)
	}
}
