package plan

import (
	"flag"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/page"
)

var update = flag.Bool("update", false, "write the table of docs/memcached/status.md again")

// TestTheDocsListEveryPendingUpdate makes the message of each input that can differ.
func TestTheDocsListEveryPendingUpdate(t *testing.T) {
	var table strings.Builder
	table.WriteString("| message | when |\n| --- | --- |\n")
	before := Inputs{
		Agent: "A", Image: "A", Platform: Kubernetes, Architectures: []string{"amd64"}, Revision: 1,
		Memory: 64 << 20,
	}
	changes := map[string]func(*Inputs){
		"Agent":         func(i *Inputs) { i.Agent = "B" },
		"Architectures": func(i *Inputs) { i.Architectures = []string{"amd64", "arm64"} },
		"Image":         func(i *Inputs) { i.Image = "B" },
		"Memory":        func(i *Inputs) { i.Memory = 128 << 20 },
		"Platform":      func(i *Inputs) { i.Platform = OpenShift },
		"Revision":      func(i *Inputs) { i.Revision = 2 },
		"Slots":         func(i *Inputs) { i.Slots = true },
	}
	comments := page.FieldComments(t, "inputs.go", "Inputs")
	for field := range reflect.TypeFor[Inputs]().Fields() {
		now := before
		now.Architectures = slices.Clone(before.Architectures)
		change := changes[field.Name]
		if change == nil {
			t.Errorf("add a change of the input %s", field.Name)
			continue
		}
		change(&now)
		fmt.Fprintf(&table, "| `%s` | %s |\n", strings.Join(pending(before, now), "; "), page.Cell(comments[field.Name]))
	}
	page.Tables(t, "../../../docs/memcached/status.md", *update, map[string]string{"inputs": table.String()})
}
