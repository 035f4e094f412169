package mutants

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/test/faults/actions"
	"github.com/example-inc/memcached-operator/test/faults/model"
	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/schema"
	"github.com/example-inc/memcached-operator/test/faults/variants"
)

const root = "../../.."

func TestEachMutantFitsTheSource(t *testing.T) {
	names := map[string]bool{}
	for _, mutant := range All() {
		if names[mutant.Name] {
			t.Errorf("two mutants are called %q", mutant.Name)
		}
		names[mutant.Name] = true
		changed, err := variants.Apply(root, mutant.Edits)
		if err != nil {
			t.Errorf("%q: %v", mutant.Name, err)
		}
		for file, text := range changed {
			if _, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution); err != nil {
				t.Errorf("%q: %v", mutant.Name, err)
			}
		}
	}
}

// TestEachMutantCompiles builds the changed packages only: a variable that an edit leaves unused is an error, too.
func TestEachMutantCompiles(t *testing.T) {
	for _, mutant := range All() {
		t.Run(mutant.Name, func(t *testing.T) {
			t.Parallel()
			changed, err := variants.Apply(root, mutant.Edits)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			overlay := struct{ Replace map[string]string }{map[string]string{}}
			arguments := []string{"build", "-overlay=" + filepath.Join(dir, "overlay.json")}
			for file, text := range changed {
				overlay.Replace[filepath.FromSlash(file)] = filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
				if err := os.WriteFile(overlay.Replace[filepath.FromSlash(file)], []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				arguments = append(arguments, "./"+path.Dir(file))
			}
			content, err := json.Marshal(overlay)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "overlay.json"), content, 0o600); err != nil {
				t.Fatal(err)
			}
			build := exec.CommandContext(t.Context(), "go", arguments...)
			build.Dir = root
			if out, err := build.CombinedOutput(); err != nil {
				t.Errorf("%v:\n%s", err, out)
			}
		})
	}
}

func TestEachMutantHasARuleAndActionsThatExist(t *testing.T) {
	s, err := schema.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	rules, all := model.Rules(), plan.Plan{}
	for _, action := range actions.All(s) {
		all.Steps = append(all.Steps, plan.Step{Do: action.Name})
	}
	for _, mutant := range All() {
		if !slices.ContainsFunc(rules, func(r model.Rule) bool { return r.Name == mutant.Rule }) {
			t.Errorf("%q: no rule %q", mutant.Name, mutant.Rule)
		}
		for _, need := range mutant.Needs {
			if !(Mutant{Needs: []string{need}}).MayShow(all) {
				t.Errorf("%q: no action %q", mutant.Name, need)
			}
		}
	}
}

func TestAMutantShowsOnlyWithWhatItNeedsInOrder(t *testing.T) {
	mutant := Mutant{Needs: []string{"scale|change.*", "suspend"}}
	tests := map[string]struct {
		steps []string
		want  bool
	}{
		"without a step":         {nil, false},
		"with one of them":       {[]string{"suspend"}, false},
		"in another order":       {[]string{"suspend", "scale"}, false},
		"in order":               {[]string{"scale", "suspend"}, true},
		"with others in between": {[]string{"kill", "change a field", "kill", "suspend"}, true},
		"a name is a whole name": {[]string{"scale", "suspend not"}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var p plan.Plan
			for _, step := range tc.steps {
				p.Steps = append(p.Steps, plan.Step{Do: step})
			}
			if got := mutant.MayShow(p); got != tc.want {
				t.Errorf("MayShow = %t, want %t", got, tc.want)
			}
		})
	}
}

func TestPlansHaveMoreOfWhatAMutantNeeds(t *testing.T) {
	s, err := schema.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	const seeds = 20
	all := actions.All(s)
	for _, mutant := range All() {
		shows := 0
		for seed := range uint64(seeds) {
			p, err := plan.New(seed, actions.Plans(mutant.Focus(all)))
			if err != nil {
				t.Fatal(err)
			}
			if mutant.MayShow(p) {
				shows++
			}
		}
		if shows < seeds/10 {
			t.Errorf("%q: only %d of %d plans have what it needs", mutant.Name, shows, seeds)
		}
	}
}
