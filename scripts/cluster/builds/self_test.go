package builds

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
)

// TestTheClusterProgramIsThereWhileItIsBuiltAgain: test packages that run at the same time each build it.
func TestTheClusterProgramIsThereWhileItIsBuiltAgain(t *testing.T) {
	compiled, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(compiled))) // It would follow the next line.
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	path, err := Self(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var group errgroup.Group
	built := make(chan struct{})
	group.Go(func() error {
		defer close(built)
		_, err := Self(t.Context())
		return err
	})
	for looking := true; looking; {
		select {
		case <-built:
			looking = false
		default:
			if _, err := os.Stat(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}
