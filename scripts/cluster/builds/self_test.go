package builds

import (
	"os"
	"testing"

	"golang.org/x/sync/errgroup"
)

// TestTheClusterProgramStaysWhileOthersBuildIt: test packages that run at the same time each build the cluster program.
func TestTheClusterProgramStaysWhileOthersBuildIt(t *testing.T) {
	keepCompiled(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	// The compiler can't move a program to another file system, so it copies the program.
	if elsewhere, err := os.MkdirTemp("/dev/shm", ""); err == nil {
		t.Cleanup(func() { _ = os.RemoveAll(elsewhere) })
		t.Setenv("GOTMPDIR", elsewhere)
	}
	// All builders find no program, and build it. The first one that ends starts the program while the others still write.
	const builders = 4
	built := make(chan string, builders)
	var group errgroup.Group
	for range builders {
		group.Go(func() error {
			path, err := Self(t.Context())
			built <- path
			return err
		})
	}
	for path, ended := <-built, 1; ended < builders; {
		select {
		case <-built:
			ended++
		default:
			if info, err := os.Stat(path); err != nil || info.Size() == 0 || info.Mode()&0o100 == 0 {
				t.Fatalf("%v, %v", info, err)
			}
		}
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}
