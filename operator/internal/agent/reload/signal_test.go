package reload

import (
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// addProcess adds a process to a folder that takes the place of /proc.
func addProcess(t *testing.T, proc, pid, name string) {
	t.Helper()
	dir := filepath.Join(proc, pid)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "comm"), []byte(name+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestMemcachedIsFoundByTheNameOfItsProgram(t *testing.T) {
	proc := t.TempDir()
	for pid, name := range map[string]string{"1": "pause", "7": "memcached", "12": "memcached-agent", "13": "my-memcached", "self": "memcached"} {
		addProcess(t, proc, pid, name)
	}
	if err := os.Mkdir(filepath.Join(proc, "99"), 0o700); err != nil { // a process that has ended
		t.Fatal(err)
	}
	got, err := memcacheds(proc)
	if diff := cmp.Diff([]int{7}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestOnlyMemcachedIsEnded(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	defer signal.Stop(signals)
	proc, self := t.TempDir(), os.Getpid()
	if err := EndInOrder(t.Context(), proc, self); err == nil {
		t.Error("a process that does not exist")
	}
	addProcess(t, proc, strconv.Itoa(self), "supervisor")
	if err := EndInOrder(t.Context(), proc, self); err == nil {
		t.Error("another program")
	}
	if err := os.WriteFile(filepath.Join(proc, strconv.Itoa(self), "comm"), []byte("memcached\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- EndInOrder(t.Context(), proc, self) }()
	select {
	case <-signals:
	case <-time.After(2 * time.Minute):
		t.Error("no signal came")
	}
	select {
	case err := <-ended:
		t.Fatalf("it runs still, but: %v", err)
	case <-time.After(3 * endPoll):
	}
	if err := os.RemoveAll(filepath.Join(proc, strconv.Itoa(self))); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestTheSignalIsSIGHUP(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	defer signal.Stop(signals)
	proc := t.TempDir()
	addProcess(t, proc, strconv.Itoa(os.Getpid()), "memcached")
	if err := hangUp(proc); err != nil {
		t.Fatal(err)
	}
	select {
	case <-signals:
	case <-time.After(2 * time.Minute):
		t.Error("no signal came")
	}
}
