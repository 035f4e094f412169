package chart

import (
	"flag"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/page"
)

// The tests of what Helm renders from the chart are in test/helm, because only its go.mod has Helm.

var update = flag.Bool("update", false, "write the table of docs/helm.md")

const root = "../../.."

func TestTheDocsListEveryValue(t *testing.T) {
	rows, err := Table(root)
	if err != nil {
		t.Fatal(err)
	}
	page.Tables(t, root+"/docs/helm.md", *update, map[string]string{"values": rows})
}
