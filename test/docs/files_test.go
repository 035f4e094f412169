package docs_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/internal/testing/tree"
	"github.com/example-inc/memcached-operator/test/docs"
)

var update = flag.Bool("update", false, "write the table of files in docs/architecture.md")

func TestTheDocsListEveryFile(t *testing.T) {
	operator, agent, err := docs.Files("../..")
	if err != nil {
		t.Fatal(err)
	}
	page.Tables(t, "../../docs/architecture.md", *update, map[string]string{
		"files of the operator": operator, "files of the agent": agent,
	})
}

func TestWhatTheTableSaysOfAFile(t *testing.T) {
	const leading, imports = "// Does this. And more.\n\n", "import \"fmt\"\n\n"
	const value, local, exported = "// limit is 1.\nconst limit = 1\n\n", "// one is | two.\nfunc one() {}\n\n", "// Run runs.\nfunc Run() {}\n"
	tests := map[string]struct{ content, want string }{
		"the comment before the imports":                       {leading + imports + exported, "Does this"},
		"the same, without imports":                            {leading + exported, "Does this"},
		"a comment of a declaration is about that one":         {value + local + exported, "Run runs"},
		"the first that is exported":                           {imports + local + exported, "Run runs"},
		"the first, if none is":                                {imports + value + local, `one is \| two`},
		"an error, because no comment says what the file does": {imports + value, ""},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			root := t.TempDir()
			tree.Write(t, root, map[string]string{
				"operator/internal/controller/testdata/x": "",
				"operator/internal/agent/slot/testdata/x": "",
				"operator/internal/agent/slot/slot.go":    "// Package slot is one.\npackage slot\n\n" + tc.content,
			})
			_, got, err := docs.Files(root)
			row := "| [slot.go](../operator/internal/agent/slot/slot.go) | " + tc.want + " |\n"
			if (err != nil) != (tc.want == "") || err == nil && !strings.HasSuffix(got, "| **`agent/slot`** | **is one** |\n"+row) {
				t.Errorf("error %v:\n%s", err, got)
			}
		})
	}
}
