package supervisor

import (
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

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
	from := listen(t)
	go forward(from, server.Addr().String())

	if got := ask(t, from.Addr().String(), "hello"); got != "HELLO" {
		t.Errorf("answer = %q", got)
	}
	server.Close()
	if got := ask(t, from.Addr().String(), "hello"); got != "" {
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

func TestEachFileCanBeRendered(t *testing.T) {
	entries, err := files.ReadDir("config")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		content, err := (&supervisor{Config: Config{Dir: "/run/x", CNIDir: "/cni"}}).render(entry.Name())
		if err != nil || strings.Contains(string(content), "<no value>") {
			t.Errorf("%s: %v\n%s", entry.Name(), err, content)
		}
		if filepath.Ext(entry.Name()) != ".yaml" {
			continue
		}
		for document := range strings.SplitSeq(string(content), "\n---\n") {
			var parsed map[string]any
			if err := yaml.Unmarshal([]byte(document), &parsed); err != nil || parsed["kind"] == nil {
				t.Errorf("%s: %v in\n%s", entry.Name(), err, document)
			}
		}
	}
}
