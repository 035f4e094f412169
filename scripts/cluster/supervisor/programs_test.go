package supervisor

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
)

// source is a wrapper's own program.
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
	for _, program := range builds.ArgoCDs {
		for _, part := range []*part{s.repoServer(), s.applicationController()} {
			if !strings.Contains(source(t, program), strconv.Quote(part.name)) {
				t.Errorf("%s knows no program %s", program.Package, part.name)
			}
		}
	}
}

func TestCoreDNSHasThePluginsThatItsConfigurationNames(t *testing.T) {
	directives := regexp.MustCompile(`(?m)^  (\w+)`).FindAllStringSubmatch(corefile, -1)
	if len(directives) == 0 {
		t.Fatal("the configuration names no plugin")
	}
	for _, directive := range directives {
		if !strings.Contains(source(t, builds.CoreDNS), "/plugin/"+directive[1]+`"`) {
			t.Errorf("CoreDNS is built without the plugin %s", directive[1])
		}
	}
}
