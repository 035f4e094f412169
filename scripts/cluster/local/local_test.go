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
			_, err := dirOf(tc.name)
			if (err == nil) != (tc.wantErr == "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("dirOf(%q) = %v, want an error with %q", tc.name, err, tc.wantErr)
			}
		})
	}
}

func TestNothingRunsWhereNothingWasStarted(t *testing.T) {
	shortCache(t)
	if _, err := Find("demo"); !errors.Is(err, ErrNotRunning) {
		t.Errorf("Find() = %v, want ErrNotRunning", err)
	}
}

func TestStateWithoutALivingProcessIsNoCluster(t *testing.T) {
	shortCache(t)
	dir, release, err := exclusive("demo")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if err := errors.Join(
		rundir.WriteJSON(dir.State(), Cluster{Name: "demo", Pid: os.Getpid()}),
		rundir.Write(dir.Lock(), nil, 0o600),
	); err != nil {
		t.Fatal(err)
	}
	if _, err := Find("demo"); !errors.Is(err, ErrNotRunning) {
		t.Errorf("Find() = %v, want ErrNotRunning", err)
	}
}

func TestASecondUpOrDownIsKeptAway(t *testing.T) {
	shortCache(t)
	_, release, err := exclusive("demo")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := exclusive("demo"); !errors.Is(err, rundir.ErrBusy) {
		t.Errorf("the second got %v, want ErrBusy", err)
	}
	release()
	if _, release, err = exclusive("demo"); err != nil {
		t.Errorf("after release: %v", err)
	}
	release()
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
	defer got.file.Close()
	if got.number <= first {
		t.Errorf("openPort(%d) = %d, want a later one", first, got.number)
	}
}

func TestKubeconfigsOfAllPartsAreWritten(t *testing.T) {
	dir := rundir.Dir(t.TempDir())
	if err := writePKI(dir, "demo", 16443); err != nil {
		t.Fatal(err)
	}
	for user := range clients {
		if _, err := os.Stat(dir.Kubeconfig(user)); err != nil {
			t.Error(err)
		}
	}
	content, err := os.ReadFile(dir.Path("kubeconfig"))
	if err != nil || !strings.Contains(string(content), "https://127.0.0.1:16443") {
		t.Errorf("people's kubeconfig doesn't lead to the loopback port (%v):\n%s", err, content)
	}
	private, err := filepath.Glob(dir.PKI("*.key"))
	if err != nil || len(private) == 0 {
		t.Fatal("no keys", err)
	}
	for _, key := range private {
		if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s can be read by others: %v, %v", key, info.Mode(), err)
		}
	}
}

func TestParseStat(t *testing.T) {
	tests := map[string]struct {
		stat        string
		pid, parent int
		ok          bool
	}{
		"a plain name":                      {"12 (etcd) S 7 12 12 0", 12, 7, true},
		"a name with brackets and blanks":   {"12 (a) b (c) S 7 12", 12, 7, true},
		"what isn't a line of it is no one": {"garbage", 0, 0, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pid, parent, ok := parseStat(tc.stat)
			if ok != tc.ok || ok && (pid != tc.pid || parent != tc.parent) {
				t.Errorf("parseStat() = %d, %d, %t", pid, parent, ok)
			}
		})
	}
}

// shortCache is a cache of the test's own. t.TempDir is too deep for the sockets of a cluster.
func shortCache(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "c")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("XDG_CACHE_HOME", dir)
}
