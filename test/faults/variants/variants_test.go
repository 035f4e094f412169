package variants

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../../.."

func TestAnEditAppliesOnce(t *testing.T) {
	file := "operator/internal/render/revisions.go"
	tests := map[string]struct {
		edits []Edit
		want  string // part of the error; empty is none
	}{
		"text that is there once":      {[]Edit{{file, "package render", "package other"}}, ""},
		"a new file":                   {[]Edit{{"operator/internal/render/new.go", "", "package render"}}, ""},
		"edits one after the other":    {[]Edit{{file, "package render", "package other"}, {file, "package other", "package render"}}, ""},
		"text that is not there":       {[]Edit{{file, "package nowhere", ""}}, "0 times"},
		"text that is there often":     {[]Edit{{file, "plan", ""}}, "times, want once"},
		"a file that is not there":     {[]Edit{{"operator/nowhere.go", "package", ""}}, "no such file"},
		"text that another edit ended": {[]Edit{{file, "package render", "package other"}, {file, "package render", ""}}, "0 times"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Apply(root, tc.edits)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Apply() = %v, want %q", err, tc.want)
			}
		})
	}
}

// The operator may use the time in other manners later, such as by an import with another name. Then the clock would
// not jump there.
func TestTheWholeOperatorHasTheClockOfACampaign(t *testing.T) {
	edits, err := clock(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	changed := map[string]bool{}
	for _, edit := range edits {
		changed[edit.File] = true
		file, err := parser.ParseFile(token.NewFileSet(), edit.File, edit.New, parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%s: %v", edit.File, err)
			continue
		}
		imports := map[string]int{}
		for _, i := range file.Imports {
			imports[i.Path.Value]++
		}
		if edit.File != clockFolder+"/clock.go" && (imports[clockImport] != 1 || timeOfDay.MatchString(edit.New)) {
			t.Errorf("%s does not use the clock: the import of time has to stand alone on its line", edit.File)
		}
	}
	for _, file := range []string{"app/clock.go", "controller/controller.go", "apply/conflict.go"} {
		if path := filepath.Join("operator/internal", file); !changed[path] {
			t.Errorf("%s has no other clock", path)
		}
	}
}
