package docs_test

import (
	"flag"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/page"
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
