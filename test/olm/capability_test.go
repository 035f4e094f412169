package olm

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const capabilityPage = "capability-levels.md"

// levels of the operator framework, the lowest first.
var levels = []string{"Basic Install", "Seamless Upgrades", "Full Lifecycle", "Deep Insights", "Auto Pilot"}

// criterion is a line of a level's table.
type criterion struct {
	text   string
	proofs []proof // none: not yet
}

// proof is a test, and the file that holds it, relative to the page.
type proof struct{ name, file string }

var proofPattern = regexp.MustCompile("^`(Test[A-Za-z0-9_]+)` in \\[[^]]*\\]\\(([^)]+)\\)$")

// capabilities reads the tables of the page: the criteria of each level.
func capabilities(page string) (map[string][]criterion, error) {
	criteria := map[string][]criterion{}
	level := ""
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if heading, found := strings.CutPrefix(line, "## "); found {
			number, name, _ := strings.Cut(heading, ": ")
			if i := slices.Index(levels, name); i < 0 || number != fmt.Sprintf("Level %d", i+1) {
				return nil, fmt.Errorf("the heading %q is none of %v with its number", heading, levels)
			}
			level = name
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if !strings.HasPrefix(line, "|") || slices.Contains([]string{"criterion", "---"}, cells[0]) {
			continue
		}
		if level == "" || len(cells) != 2 {
			return nil, fmt.Errorf("%q is no line of a level's table", line)
		}
		proofs, err := proofsIn(cells[1])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", cells[0], err)
		}
		criteria[level] = append(criteria[level], criterion{cells[0], proofs})
	}
	return criteria, nil
}

func proofsIn(cell string) (proofs []proof, err error) {
	if cell == "not yet" {
		return nil, nil
	}
	for text := range strings.SplitSeq(cell, ", ") {
		matched := proofPattern.FindStringSubmatch(text)
		if matched == nil {
			return nil, fmt.Errorf("%q is neither \"not yet\" nor `TestName` in [file](path)", text)
		}
		proofs = append(proofs, proof{matched[1], matched[2]})
	}
	return proofs, nil
}

// proved is the highest level for which all criteria are proved, including those of the levels below.
func proved(criteria map[string][]criterion) (level string) {
	for _, next := range levels {
		open := func(c criterion) bool { return len(c.proofs) == 0 }
		if len(criteria[next]) == 0 || slices.ContainsFunc(criteria[next], open) {
			return level
		}
		level = next
	}
	return level
}

// find looks for a test in a file, whatever the build tags.
func (p proof) find(dir string) error {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, p.file), nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, declaration := range file.Decls {
		if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == p.name {
			return nil
		}
	}
	return errors.New(p.file + " holds no " + p.name)
}

func TestTheCapabilityLevelIsTheHighestThatTestsProve(t *testing.T) {
	docs := filepath.Join(root, "docs")
	page, err := os.ReadFile(filepath.Join(docs, capabilityPage))
	if err != nil {
		t.Fatal(err)
	}
	criteria, err := capabilities(string(page))
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range levels {
		if len(criteria[level]) == 0 {
			t.Errorf("%s has no criteria of %s", capabilityPage, level)
		}
		for _, c := range criteria[level] {
			for _, p := range c.proofs {
				if err := p.find(docs); err != nil {
					t.Errorf("%s: %s: %v", level, c.text, err)
				}
			}
		}
	}
	var csv struct {
		Metadata struct{ Annotations map[string]string }
	}
	unmarshal(t, committed(t)[csvFile], &csv)
	if got, want := csv.Metadata.Annotations["capabilities"], proved(criteria); got != want {
		t.Errorf("the annotation capabilities is %q, and %s proves %q", got, capabilityPage, want)
	}
}

func TestTheHighestLevelThatAPageProves(t *testing.T) {
	const one, two = "## Level 1: Basic Install\n| a | `TestA` in [a](a_test.go) |\n", "## Level 2: Seamless Upgrades\n"
	tests := map[string]struct{ page, want string }{
		"nothing":                               {"", ""},
		"the first level":                       {one, "Basic Install"},
		"a second level with an open criterion": {one + two + "| b | `TestB` in [b](b.go) |\n| c | not yet |\n", "Basic Install"},
		"two levels":                            {one + two + "| b | `TestB` in [b](b.go), `TestC` in [c](c.go) |\n", "Seamless Upgrades"},
		"a level above one that is open":        {two + "| b | `TestB` in [b](b.go) |\n", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			criteria, err := capabilities(tc.page)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, proved(criteria)); diff != "" {
				t.Errorf("level (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPageThatProvesNothingIsRefused(t *testing.T) {
	tests := map[string]struct{ page, want string }{
		"an unknown level":          {"## Level 1: Full Lifecycle\n", "is none of"},
		"a claim without a test":    {"## Level 1: Basic Install\n| a | obviously |\n", "is neither"},
		"a claim without a file":    {"## Level 1: Basic Install\n| a | `TestA` |\n", "is neither"},
		"a criterion of no level":   {"| a | not yet |\n", "is no line of a level's table"},
		"a criterion without claim": {"## Level 1: Basic Install\n| a |\n", "is no line of a level's table"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := capabilities(tc.page); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q in it", err, tc.want)
			}
		})
	}
	if err := (proof{"TestThatDoesNotExist", "capability_test.go"}).find("."); err == nil {
		t.Error("a test that does not exist is found")
	}
}
