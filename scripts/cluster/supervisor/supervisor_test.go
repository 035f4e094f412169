package supervisor

import (
	"io"
	"net"
	"strings"
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

func TestForwardPassesBothWaysAndEndsWithEither(t *testing.T) {
	server := listen(t)
	go func() {
		conn, err := server.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		question, _ := io.ReadAll(conn) // until the client closes its half
		_, _ = conn.Write([]byte(strings.ToUpper(string(question))))
	}()
	door := listen(t)
	go forward(door, server.Addr().String())

	if got := ask(t, door.Addr().String(), "hello"); got != "HELLO" {
		t.Errorf("answer = %q", got)
	}
	server.Close()
	if got := ask(t, door.Addr().String(), "hello"); got != "" {
		t.Errorf("a server that is down answered %q", got)
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}

func ask(t *testing.T, address, question string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = conn.Write([]byte(question))
	_ = conn.(*net.TCPConn).CloseWrite()
	answer, _ := io.ReadAll(conn)
	return string(answer)
}

func TestClustersOfOneNameInTwoCachesHaveTwoControlGroups(t *testing.T) {
	one, other := CgroupName("/a/clusters/demo"), CgroupName("/b/clusters/demo")
	if one == other {
		t.Errorf("both have %s", one)
	}
	if !strings.HasPrefix(one, "memcached-operator-demo-") {
		t.Errorf("%s doesn't tell the cluster's name", one)
	}
}
