package mutants

import (
	"encoding/json"
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

func TestEachMutantHasANameARuleAndActionsThatExist(t *testing.T) {
	s, err := schema.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	rules, all := model.Rules(), plan.Plan{}
	for _, action := range actions.All(s) {
		all.Steps = append(all.Steps, plan.Step{Do: action.Name})
	}
	names := map[string]bool{}
	for _, mutant := range All() {
		if names[mutant.Name] {
			t.Errorf("two mutants are called %q", mutant.Name)
		}
		names[mutant.Name] = true
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
