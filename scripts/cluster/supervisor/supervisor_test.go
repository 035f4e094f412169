package supervisor

import (
	"bytes"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestForwardPassesBothWaysAndEndsWithEither(t *testing.T) {
	server, from := listen(t), listen(t)
	go func() {
		conn, err := server.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		question, _ := io.ReadAll(conn) // until the client closes its half
		_, _ = conn.Write(bytes.ToUpper(question))
	}()
	go forward(from, server.Addr().String())

	for _, want := range []string{"HELLO", ""} { // The second time the server is down.
		conn, err := net.Dial("tcp", from.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write([]byte("hello"))
		_ = conn.(*net.TCPConn).CloseWrite()
		if answer, _ := io.ReadAll(conn); string(answer) != want {
			t.Errorf("answer = %q, want %q", answer, want)
		}
		conn.Close()
		server.Close()
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

func TestEachFileCanBeRendered(t *testing.T) {
	entries, err := files.ReadDir("config")
	if err != nil {
		t.Fatal(err)
	}
	s := &supervisor{Config: Config{Dir: "/run/x", CNIDir: "/cni"}}
	for _, entry := range entries {
		content, err := s.render(entry.Name())
		if err != nil || strings.Contains(string(content), "<no value>") {
			t.Errorf("%s: %v\n%s", entry.Name(), err, content)
		}
		if filepath.Ext(entry.Name()) != ".yaml" || entry.Name() == "parts.yaml" {
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

func TestTheAPIServerIsReachedFromPodsOnlyOnARealNode(t *testing.T) {
	for isReal, want := range map[bool]string{true: "--advertise-address=" + NodeIP, false: "--bind-address=127.0.0.1"} {
		s := &supervisor{Config: Config{Dir: "/run/x", Real: isReal}}
		if err := s.readParts(); err != nil {
			t.Fatal(err)
		}
		if server := s.parts[1]; !slices.Contains(server.Args, want) {
			t.Errorf("%s lacks %s: %q", server.Name, want, server.Args)
		}
	}
}
