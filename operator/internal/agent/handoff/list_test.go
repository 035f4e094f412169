package handoff

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// listing returns a Dial for a simulated memcached that has only a clock and a list of keys.
func listing(time int64, lines ...string) Dial {
	return func(context.Context) (net.Conn, error) {
		connection, server := net.Pipe()
		go func() {
			commands := bufio.NewReader(server)
			_, _ = commands.ReadString('\n')
			_, _ = fmt.Fprintf(server, "STAT uptime 7\r\nSTAT time %d\r\nEND\r\n", time)
			_, _ = commands.ReadString('\n')
			_, _ = io.WriteString(server, strings.Join(append(lines, "END", ""), "\r\n"))
		}()
		return connection, nil
	}
}

// TestAgesAreOfTheClockOfMemcached: ages are computed by the clock of the memcached that lists the keys, not by the
// clock of this Node.
func TestAgesAreOfTheClockOfMemcached(t *testing.T) {
	const time = 1000
	used := func(key string, at int64) string {
		return fmt.Sprintf("key=%s exp=-1 la=%d cas=1 fetch=yes cls=1 size=80", key, at)
	}
	keys, err := list(t.Context(), listing(time, used("a", time-40), used("b", time), used("c", time-5)), anyKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer keys.close()
	if diff := cmp.Diff([]string{"b", "c", "a"}, keysOf(t, keys, keys.hottest(everything()))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if keys.ages.keys(40, 40) != 1 || keys.ages.keys(5, 5) != 1 {
		t.Errorf("ages %v", keys.ages)
	}
}

// fullDisk refuses each write, as a full disk does.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestAFullFolderIsNoFaultOfMemcached: if the folder for the temporary file is full or missing, the failure does not
// blame memcached.
func TestAFullFolderIsNoFaultOfMemcached(t *testing.T) {
	s, err := newSpool()
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	s.writer = bufio.NewWriter(fullDisk{})
	err = s.tryFill(t.Context(), listing(1, "key=a exp=-1 la=1 cas=1 fetch=no cls=1 size=80"), anyKey, nil)
	t.Setenv("TMPDIR", t.TempDir()+"/missing")
	_, missing := newSpool()
	for _, err := range []error{err, missing} {
		f, ok := errors.AsType[*Failure](err)
		if !ok || f.Reason != NoTemporaryFile || !strings.Contains(f.Text(), "make room there, or set TMPDIR") {
			t.Errorf("error %v", err)
		}
	}
}
