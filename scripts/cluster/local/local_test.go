package local

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

func TestClusterNames(t *testing.T) {
	tests := map[string]struct {
		name, cache, wantErr string
	}{
		"a plain name is fine":                       {"e2e", "/c", ""},
		"a name with dashes is fine":                 {"my-cluster", "/c", ""},
		"no name is refused":                         {"", "/c", "cluster name"},
		"a way out of the folder is refused":         {"../demo", "/c", "cluster name"},
		"a name too long for a control group's sake": {strings.Repeat("a", 21), "/c", "cluster name"},
		"a cache too deep for sockets is refused":    {"demo", "/" + strings.Repeat("c", 80), "XDG_CACHE_HOME"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_CACHE_HOME", tc.cache)
			_, err := rundir.Named(tc.name)
			if (err == nil) != (tc.wantErr == "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("Named(%q) = %v, want an error with %q", tc.name, err, tc.wantErr)
			}
		})
	}
}

func TestASecondUpOrDownIsKeptAway(t *testing.T) {
	release, err := demoDir(t).Alone()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Down(t.Context(), "demo"); !errors.Is(err, rundir.ErrBusy) {
		t.Errorf("the second got %v, want ErrBusy", err)
	}
	release()
	if found, err := Down(t.Context(), "demo"); found || err != nil {
		t.Errorf("after release, Down() = %t, %v, want that it finds nothing", found, err)
	}
}

func TestATakenPortIsPassedOver(t *testing.T) {
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	first := taken.Addr().(*net.TCPAddr).Port
	got, err := openPort(first)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	if number := got.Addr().(*net.TCPAddr).Port; number <= first {
		t.Errorf("openPort(%d) = %d, want a later one", first, number)
	}
}

func TestKeysAreTheUsersAlone(t *testing.T) {
	dir := rundir.Dir(t.TempDir())
	if err := writeAccess(dir, "demo", 16443); err != nil {
		t.Fatal(err)
	}
	var secret []string
	for _, pattern := range []string{dir.PKI("*.key"), dir.PKI("*.kubeconfig"), dir.Path("kubeconfig")} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no %s: %v", pattern, err)
		}
		secret = append(secret, found...)
	}
	for _, file := range secret {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s can be read by others: %v, %v", file, info.Mode(), err)
		}
	}
}

// demoDir returns the folder of a cluster, in a cache that only this test uses. The path of t.TempDir would be too long
// for the sockets of a cluster.
func demoDir(t *testing.T) rundir.Dir {
	t.Helper()
	cache, err := os.MkdirTemp("", "c")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(cache) })
	t.Setenv("XDG_CACHE_HOME", cache)
	dir, err := rundir.Named("demo")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
