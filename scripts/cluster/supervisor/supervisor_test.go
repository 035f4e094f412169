package supervisor

import (
	"io"
	"net"
	"path/filepath"
	"slices"
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

func TestThePartsFollowTheKindOfNodes(t *testing.T) {
	tests := map[string]struct {
		real bool
		want string
	}{
		"a real Node reaches the API server":            {true, "--advertise-address=" + NodeIP},
		"nothing outside of it reaches a control plane": {false, "--bind-address=127.0.0.1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := &supervisor{Config: Config{Dir: "/run/x", Ports: Ports{API: 1, Etcd: 2}, Real: tc.real}}
			if err := s.readParts(); err != nil {
				t.Fatal(err)
			}
			etcd, server := s.parts[0], s.parts[1]
			if etcd.Ready != "tcp://127.0.0.1:2" || !slices.Contains(server.Args, "--etcd-servers=https://127.0.0.1:2") {
				t.Errorf("the API server looks for etcd by %q, which is at %s", server.Args, etcd.Ready)
			}
			if !slices.Contains(server.Args, tc.want) {
				t.Errorf("the API server lacks %s: %q", tc.want, server.Args)
			}
		})
	}
}
