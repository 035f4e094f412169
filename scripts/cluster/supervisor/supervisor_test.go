package supervisor

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
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

// source is the main function of a program that the project itself has.
func source(t *testing.T, program builds.Binary) string {
	t.Helper()
	root, err := builds.Root()
	if err != nil {
		t.Fatal(err)
	}
	_, folder, _ := strings.Cut(program.Package, "/scripts/")
	content, err := os.ReadFile(filepath.Join(root, "scripts", folder, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestEachArgoCDKnowsThePartsThatRun(t *testing.T) {
	s := &supervisor{}
	for _, program := range builds.ArgoCDs() {
		for _, part := range []*part{s.repoServer(), s.applicationController()} {
			if !strings.Contains(source(t, program), strconv.Quote(part.name)) {
				t.Errorf("%s knows no program %s", program.Package, part.name)
			}
		}
	}
}

func TestCoreDNSHasThePluginsThatItsConfigurationNames(t *testing.T) {
	corefile, err := (&supervisor{}).render("Corefile")
	if err != nil {
		t.Fatal(err)
	}
	directives := regexp.MustCompile(`(?m)^  (\w+)`).FindAllSubmatch(corefile, -1)
	if len(directives) == 0 {
		t.Fatal("the configuration names no plugin")
	}
	for _, directive := range directives {
		if !strings.Contains(source(t, builds.CoreDNS), "/plugin/"+string(directive[1])+`"`) {
			t.Errorf("CoreDNS is built without the plugin %s", directive[1])
		}
	}
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
