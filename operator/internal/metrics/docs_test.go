package metrics

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

var update = flag.Bool("update", false, "write the table of docs/monitoring.md anew")

func TestTheDocsTellEveryMetric(t *testing.T) {
	page.Tables(t, "../../../docs/monitoring.md", *update, map[string]string{"metrics": table(t)})
}

func table(t *testing.T) string {
	t.Helper()
	registry := prometheus.NewRegistry()
	New(registry)
	NewMemcacheds(registry, nil).begin()
	NewUpdates(registry, func() Updates { return Updates{} })
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	table.WriteString("| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n")
	for _, family := range families {
		var labels []string
		for _, label := range family.Metric[0].Label {
			labels = append(labels, label.GetName())
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", family.GetName(), strings.ToLower(family.GetType().String()),
			strings.Join(labels, ", "), family.GetHelp())
	}
	return table.String()
}

// reasonsOfReady are the constants of the API's block that says so.
func reasonsOfReady(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../api/v1/conditions.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, declaration := range file.Decls {
		block, ok := declaration.(*ast.GenDecl)
		if !ok || !strings.HasPrefix(block.Doc.Text(), "Reasons of the Ready condition.") {
			continue
		}
		for _, spec := range block.Specs {
			reason, err := strconv.Unquote(spec.(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, reason)
		}
	}
	if len(found) == 0 {
		t.Fatalf("no reasons in the package %s", cachev1.GroupVersion.Version)
	}
	return found
}
