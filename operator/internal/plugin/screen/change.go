package screen

// The screen of a change.

import (
	"fmt"

	"k8s.io/cli-runtime/pkg/printers"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/change"
)

// podsText and keysText say what happens to Pods and keys.
var (
	podsText = map[change.Pods]string{
		change.PodsStay: "none is replaced", change.PodsAreCreated: "all are created: the cache is new",
		change.PodsAreReplaced: "all are replaced, one after another", change.PodsAreDeleted: "all are deleted",
	}
	keysText = map[change.Keys]string{
		change.KeysStay:          "all keys stay where they are",
		change.KeysAreHandedOver: "handed over: each new Pod copies the keys of the Pod that it replaces",
		change.KeysAreMoved:      "moved: keys that clients look for in another slot are copied there first",
		change.SomeKeysAreLost:   "some are lost: those of removed Pods, and those that clients look for in another Pod",
		change.AllKeysAreLost:    "all keys are lost",
	}
)

// Change prints what a change to a Memcached would do.
func (s Screen) Change(c change.Change) {
	fmt.Fprintf(s, "Memcached %s/%s\n", c.Namespace, c.Name)
	if len(c.Problems) > 0 {
		fmt.Fprintln(s, "\n"+s.painted("The spec is invalid, and the operator would do nothing:", Red))
		for _, problem := range c.Problems {
			fmt.Fprintln(s, "  "+printers.EscapeTerminal(problem))
		}
		return
	}
	keys := keysText[c.Keys]
	if c.Keys == change.AllKeysAreLost && c.Pods == change.PodsAreReplaced {
		keys += ": new Pods start empty"
	}
	if c.Keys == change.AllKeysAreLost || c.Keys == change.SomeKeysAreLost {
		keys = s.painted(keys, Red)
	}
	fmt.Fprintf(s, "\nPods: %s\n", podsText[c.Pods])
	if c.Pods != change.PodsAreCreated {
		fmt.Fprintf(s, "Keys: %s\n", keys)
	}
	for _, note := range c.Notes {
		fmt.Fprintln(s, "Note: "+note)
	}
	if len(c.Spec) > 0 {
		fmt.Fprintln(s, "\nSpec:")
		s.differences(c.Spec)
	}
	if len(c.Objects) == 0 {
		fmt.Fprintln(s, "\nNo managed object changes.")
	}
	for _, object := range c.Objects {
		fmt.Fprintf(s, "\n%s %s: %s\n", object.Kind, object.Name, object.Action)
		s.differences(object.Fields)
	}
}

// differences prints fields as diff does: the removed value, then the added one.
func (s Screen) differences(fields []change.Difference) {
	for _, field := range fields {
		fmt.Fprintf(s, "  %s\n", field.Field)
		if field.Before != "" {
			fmt.Fprintln(s, "    "+s.painted("- "+printers.EscapeTerminal(field.Before), Red))
		}
		if field.After != "" {
			fmt.Fprintln(s, "    "+s.painted("+ "+printers.EscapeTerminal(field.After), Green))
		}
	}
}
