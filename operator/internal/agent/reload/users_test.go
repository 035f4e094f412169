package reload

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
	"github.com/example-inc/memcached-operator/operator/internal/agent/mounted"
)

// memcached is a simulated memcached that accepts the users of the file that it last loaded.
type memcached struct {
	address string
	mutex   sync.Mutex
	lets    string // lines "user password"
}

func (m *memcached) let(lines string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.lets = lines
}

func (m *memcached) accepts(user string) bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return strings.Contains("\n"+m.lets, "\n"+user)
}

func newMemcached(t *testing.T) *memcached {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	m := &memcached{address: listener.Addr().String()}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			lines := bufio.NewReader(connection)
			_, _ = lines.ReadString('\n')
			user, _ := lines.ReadString('\n')
			answer := "CLIENT_ERROR authentication failure\r\n"
			if m.accepts(strings.TrimSpace(user) + "\n") {
				answer = "STORED\r\n"
			}
			_, _ = connection.Write([]byte(answer))
			_ = connection.Close()
		}
	}()
	return m
}

func newUsers(t *testing.T, list string) *Users {
	t.Helper()
	u := &Users{Dir: t.TempDir(), File: filepath.Join(t.TempDir(), "auth"), Proc: t.TempDir()}
	agenttest.Mount(t, u.Dir, map[string]string{"users": list})
	return u
}

func read(t *testing.T, u *Users) {
	t.Helper()
	if _, err := u.Read(); err != nil {
		t.Fatal(err)
	}
}

func wantFile(t *testing.T, u *Users, want string) {
	t.Helper()
	if got, err := os.ReadFile(u.File); err != nil || string(got) != want {
		t.Errorf("the file holds %q, error %v, want %q", got, err, want)
	}
}

func TestTheFileIsThereOnceTheSecretCanBeUsed(t *testing.T) {
	u := newUsers(t, "malformed")
	if _, err := u.Read(); err == nil {
		t.Error("a malformed Secret is read")
	}
	if err := u.Started(); err == nil {
		t.Error("started without a file")
	}
	agenttest.Mount(t, u.Dir, map[string]string{"users": "ann:one"})
	read(t, u)
	if err := u.Started(); err != nil {
		t.Error(err)
	}
	wantFile(t, u, "ann:one\n")
}

func TestTheLastFileThatWasGoodStays(t *testing.T) {
	u := newUsers(t, "ann:one")
	read(t, u)
	for _, restarted := range []bool{false, true} {
		if restarted {
			u = &Users{Dir: u.Dir, File: u.File, Address: newMemcached(t).address}
		}
		agenttest.Mount(t, u.Dir, map[string]string{"users": strings.Repeat("ann:two\n", 9)})
		if _, err := u.Read(); err == nil {
			t.Error("nine users are read")
		}
		wantFile(t, u, "ann:one\n")
		if user := u.login.Load(); user == nil || user.Password != "one" {
			t.Error("the user of the file does not log in")
		}
	}
}

func TestEveryChangeIsAnotherVersion(t *testing.T) {
	u := newUsers(t, "ann:one")
	versions := map[string]bool{}
	for _, list := range []string{"ann:one", "ann:two", "ann:two\nbob:one", "ann:one"} {
		agenttest.Mount(t, u.Dir, map[string]string{"users": list})
		version, err := u.Read()
		if err != nil {
			t.Fatal(err)
		}
		versions[version] = true
	}
	if len(versions) != 3 {
		t.Errorf("%d versions of 3 lists", len(versions))
	}
}

func TestCheckLogsInAsCurrentAndRemovedUsers(t *testing.T) {
	tests := map[string]struct{ lets, want string }{
		"all of them":                {"ann new\nbob x\n", "<nil>"},
		"one is not there yet":       {"ann new\n", "memcached rejects a user of the Secret: memcached refuses"},
		"memcached has no users yet": {"ann old\neve x\n", "memcached rejects a user of the Secret: memcached refuses"},
		"the old password is still":  {"ann new\nbob x\nann old\n", "memcached still accepts a removed user"},
		"a removed user is still":    {"ann new\nbob x\neve x\n", "memcached still accepts a removed user"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m := newMemcached(t)
			u := newUsers(t, "ann:old\neve:x")
			u.Address = m.address
			read(t, u)
			agenttest.Mount(t, u.Dir, map[string]string{"users": "ann:new\nbob:x"})
			read(t, u)
			m.let(tc.lets)
			if got := fmt.Sprint(u.Check(t.Context())); !strings.HasPrefix(got, tc.want) {
				t.Errorf("error %s, want %s", got, tc.want)
			}
			wantLogin := "old"
			if tc.want == "<nil>" {
				wantLogin = "new"
			}
			if got := u.login.Load().Password; got != wantLogin {
				t.Errorf("logs in by the %s password, want the %s one", got, wantLogin)
			}
		})
	}
}

func TestAUserWhoIsAddedAgainIsNotRemoved(t *testing.T) {
	m := newMemcached(t)
	u := newUsers(t, "ann:one")
	u.Address = m.address
	for _, list := range []string{"ann:one", "bob:one", "ann:one"} {
		agenttest.Mount(t, u.Dir, map[string]string{"users": list})
		read(t, u)
	}
	m.let("ann one\n")
	if err := u.Check(t.Context()); err != nil {
		t.Error(err)
	}
	m.let("ann one\nbob one\n")
	u.removed = nil
	agenttest.Mount(t, u.Dir, map[string]string{"users": "bob:one"})
	read(t, u)
	if err := u.Check(t.Context()); err == nil {
		t.Error("ann, who was removed, still gets in")
	}
}

func TestASignalNeedsMemcachedAndItsProcess(t *testing.T) {
	certificates := t.TempDir()
	agenttest.Mount(t, certificates, map[string]string{"tls.crt": "x", "tls.key": "y"})
	tests := map[string]struct {
		change func(*Users)
		want   string
	}{
		"memcached does not answer, so it is not signalled": {func(u *Users) { u.Address = "127.0.0.1:1" }, "cannot reach memcached"},
		"no process is to be seen":                          {func(*Users) {}, "the Pod needs shareProcessNamespace"},
		"certificates that memcached could not load":        {func(u *Users) { u.Certificate = &mounted.Certificate{Dir: certificates} }, "memcached can't load the users before it can load the certificate: tls.crt: 0 certificates begin"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			u := newUsers(t, "ann:one")
			u.Address = newMemcached(t).address
			tc.change(u)
			if err := u.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}
