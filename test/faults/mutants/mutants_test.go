package mutants

import (
	"go/parser"
	"go/token"
	"testing"

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
