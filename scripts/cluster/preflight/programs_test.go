package preflight

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

const repository = "../../.."

// chosen are the files that call a program which is not named there: what of the machine that can be, if anything.
var chosen = map[string][]string{
	// What the project builds itself.
	"operator/internal/agent/binary_e2e_test.go":            {},
	"operator/internal/agent/supervisor/supervisor.go":      {},
	"operator/internal/agent/supervisor/supervisor_test.go": {},
	"scripts/cluster/builds/group_test.go":                  {},
	"scripts/cluster/simulated/keeper.go":                   {},
	"scripts/demo/text.go":                                  {},
	"test/bench/lab/process.go":                             {},
	"test/bench/rows/data_linux.go":                         {},
	"test/e2e/figures_test.go":                              {},
	"test/e2e/killed_test.go":                               {},
	"test/e2e/rollout_test.go":                              {},
	"test/e2e/security_harness_test.go":                     {},
	"test/integration/harness_test.go":                      {},
	"test/integration/main_test.go":                         {},
	"test/placement/harness_test.go":                        {},
	"test/tutorial/visitor_test.go":                         {},
	// What the project unpacks itself, from packages that it does not install.
	"scripts/promtool/promtool.go":  {},
	"test/monitoring/rules_test.go": {},
	// What the user names.
	"scripts/release/image/tool.go":     {},
	"scripts/kind/steps.go":             {}, // on a forge's runner
	"test/install/install_test.go":      {},
	"scripts/verify/generated.go":       {},
	"scripts/release/bundle_command.go": {},
	// What is named elsewhere.
	"scripts/cluster/preflight/install.go":      {"apt-get", "update-rc.d"},
	"scripts/cluster/preflight/preflight.go":    {},
	"scripts/cluster/supervisor/part.go":        {"redis-server"},
	"scripts/images/debian/debian.go":           {"apt-get", "dpkg-deb"},
	"scripts/images/oci/memcached.go":           {"memcached"},
	"scripts/rebrand/rebrand.go":                  {"go"},
	"scripts/release/dist/disttest/disttest.go": {"git", "go", "make", "sh", "sha256sum"},
	"test/arch/machine_test.go":                 emulators(),
	"test/overlays/remote_test.go":              {"git", "go"},
}

// optional programs are called where they are, and done without elsewhere. Docker is needed by make kind alone, which is
// for a forge's runner.
var optional = []string{"operator-sdk", "docker"}

func emulators() (names []string) {
	for _, architecture := range oci.Architectures() {
		if emulator := Emulator(architecture); emulator != "" {
			names = append(names, emulator)
		}
	}
	return names
}

// TestEveryProgramThatTheCodeCallsIsInTheList reads all Go files of the repository. A program that is called by name,
// and that nobody declares, works on the machine where it was written, and fails on a bare one.
func TestEveryProgramThatTheCodeCallsIsInTheList(t *testing.T) {
	called := map[string]string{} // by program: where
	used := map[string]bool{}     // files of chosen
	for _, c := range calls(t) {
		switch names, known := chosen[c.file]; {
		case c.program != "":
			called[c.program] = c.file
		case !known:
			t.Errorf("%s calls a program that it does not name: add the file to chosen, with what it can be", c.file)
		default:
			used[c.file] = true
			for _, name := range names {
				called[name] = c.file
			}
		}
	}
	for file := range chosen {
		if !used[file] {
			t.Errorf("chosen has %s, where no program is called but by name", file)
		}
	}
	declared := map[string]bool{}
	for _, needs := range append([][]Need{Base()}, everyPurpose(t)...) {
		for _, need := range needs {
			declared[need.Program] = true
		}
	}
	for program, file := range called {
		if !declared[program] && !slices.Contains(optional, program) {
			t.Errorf("%s calls %s, which no list in needs.go has", file, program)
		}
	}
}

// TestEveryEntryOfTheListIsCalled: what is installed for nothing is a burden on each machine.
func TestEveryEntryOfTheListIsCalled(t *testing.T) {
	byParts := []string{"runc", "nft", "mount", "ptp", "host-local", "loopback"} // called by containerd, the kubelet, kube-proxy
	called := map[string]bool{}
	for _, c := range calls(t) {
		called[c.program] = true
		for _, name := range chosen[c.file] {
			called[name] = true
		}
	}
	for _, needs := range everyPurpose(t) {
		for _, need := range needs {
			if !called[need.Program] && !slices.Contains(byParts, need.Program) {
				t.Errorf("nothing calls %s", need.Program)
			}
		}
	}
}

func everyPurpose(t *testing.T) (all [][]Need) {
	t.Helper()
	for _, purpose := range Purposes() {
		needs, err := For(purpose)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, needs)
	}
	return all
}

// call is a place that starts a program, or looks for it.
type call struct {
	file    string
	program string // empty where it is computed
}

// calls reads every Go file that git would keep.
func calls(t *testing.T) []call {
	t.Helper()
	var found []call
	err := filepath.WalkDir(repository, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != repository {
			return filepath.SkipDir
		}
		if entry.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(repository, path)
		found = append(found, callsIn(t, filepath.ToSlash(name), text)...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// callsIn finds the calls of one file.
func callsIn(t *testing.T, name string, text []byte) (found []call) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(node ast.Node) bool {
		expression, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		if argument, ok := programOf(expression); ok {
			found = append(found, call{file: name, program: literal(argument)})
		}
		return true
	})
	return found
}

// programOf is the argument of a call that names the program.
func programOf(expression *ast.CallExpr) (ast.Expr, bool) {
	selector, ok := expression.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil, false
	}
	pkg, ok := selector.X.(*ast.Ident)
	if !ok {
		return nil, false
	}
	switch pkg.Name + "." + selector.Sel.Name {
	case "exec.Command", "exec.LookPath", "preflight.Program":
		return expression.Args[0], true
	case "exec.CommandContext":
		return expression.Args[1], true
	}
	return nil, false
}

func literal(expression ast.Expr) string {
	value, ok := expression.(*ast.BasicLit)
	if !ok {
		return ""
	}
	text, _ := strconv.Unquote(value.Value)
	return text
}

func TestCallsAreFoundInAFile(t *testing.T) {
	const text = `package p
func named()    { exec.Command("tool", "x"); exec.CommandContext(ctx, "other") }
func computed() { exec.LookPath(name) }
func found()    { path, err := preflight.Program("third") }
func neither()  { other.Command("nothing") }`
	want := []call{{"p.go", "tool"}, {"p.go", "other"}, {"p.go", ""}, {"p.go", "third"}}
	if diff := cmp.Diff(want, callsIn(t, "p.go", []byte(text)), cmp.AllowUnexported(call{})); diff != "" {
		t.Error(diff)
	}
}
