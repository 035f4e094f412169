package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

// removed returns which field of another client a JSON patch removed without need. The operator may remove a field
// because of which the API server has just refused what the operator applied: a list item with the name of the
// operator's item, a field that excludes the operator's field, a hook or a probe with another handler, or a mount of a
// volume that the operator no longer applies. It may always remove the readiness gate of slots from a Deployment that
// no longer has slots.
func (t *others) removed(before *object, by *audit.Request) string {
	var operations []struct{ Op, Path string }
	_ = json.Unmarshal(by.Body, &operations)
	path, _, _ := strings.Cut(by.URI, "?")
	refused := t.refused[path]
	for _, operation := range operations {
		wrong, pointer := "", strings.Split(operation.Path, "/")[1:]
		switch {
		case operation.Op == "replace" && operation.Path == "/metadata/resourceVersion":
		case operation.Op != "remove" || !strings.HasPrefix(operation.Path, "/spec/"):
			wrong = "which is not its own field"
		case isFormerGate(pointer, before):
		case refused == nil || history.ProcessOf(refused) != history.ProcessOf(by):
			wrong = "although the API server had not refused its own"
		case inTheWay(pointer, before.Object, bodyOf(refused)):
		case !isDangling(pointer, before, bodyOf(refused)):
			wrong = "which does not exclude its own field"
		}
		if wrong != "" {
			return fmt.Sprintf("the operator sent a JSON patch to %s %s: %s %s, %s", before.GetKind(), before.GetName(),
				operation.Op, operation.Path, wrong)
		}
	}
	return ""
}

// isFormerGate reports whether a JSON pointer selects the readiness gate of slots, in a Deployment to which the
// operator no longer applies it. If another client keeps the gate, no Pod ever becomes ready.
func isFormerGate(pointer []string, before *object) bool {
	const gates = "readinessGates"
	parent := []string{"spec", "template", "spec", gates}
	if len(pointer) != len(parent)+1 || !slices.Equal(pointer[:len(parent)], parent) {
		return false
	}
	all, _ := value(before, parent...).([]any)
	index, err := strconv.Atoi(pointer[len(parent)])
	if err != nil || index < 0 || index >= len(all) {
		return false
	}
	gate, _ := all[index].(map[string]any)
	path := fieldpath.MakePathOrDie("spec", "template", "spec", gates)
	return gate["conditionType"] == hasSlot && !ownsWithin(ownFields(before), path)
}

// inTheWay reports whether the value at a JSON pointer prevents the operator from applying its own value there.
func inTheWay(pointer []string, there any, body *object) bool {
	if body == nil {
		return false
	}
	var own any = body.Object
	for i, name := range pointer {
		last := i == len(pointer)-1
		switch here := there.(type) {
		case map[string]any:
			fields, _ := own.(map[string]any)
			if last {
				return excludes(here, fields, name)
			}
			there, own = here[name], fields[name]
		case []any:
			index, err := strconv.Atoi(name)
			if err != nil || index < 0 || index >= len(here) {
				return false
			}
			there = here[index]
			if own = namedAs(there, own); last {
				return own != nil
			}
		default:
			return false
		}
	}
	return false
}

// excludes reports whether an existing field excludes a field of the operator, or the operator's value of the same
// field.
func excludes(there, own map[string]any, name string) bool {
	return own[name] == nil && missesAny(there, own) || hasAnotherHandler(there[name], own[name])
}

// hasAnotherHandler reports whether a hook or a probe has another handler than the operator's.
func hasAnotherHandler(there, own any) bool {
	handlers := []string{"exec", "grpc", "httpGet", "sleep", "tcpSocket"}
	its, _ := there.(map[string]any)
	wanted, _ := own.(map[string]any)
	return slices.ContainsFunc(handlers, func(name string) bool { return its[name] != nil && wanted[name] == nil }) &&
		slices.ContainsFunc(handlers, func(name string) bool { return its[name] == nil && wanted[name] != nil })
}

// missesAny reports whether the operator sets a field that does not exist in the object.
func missesAny(there, own map[string]any) bool {
	for name := range own {
		if there[name] == nil {
			return true
		}
	}
	return false
}

// namedAs returns the item of the list that has the same name as this item.
func namedAs(item, list any) any {
	fields, _ := item.(map[string]any)
	items, _ := list.([]any)
	i := slices.IndexFunc(items, func(other any) bool {
		its, _ := other.(map[string]any)
		return its["name"] == fields["name"]
	})
	if i < 0 || fields["name"] == nil {
		return nil
	}
	return items[i]
}

// isDangling reports whether a JSON pointer selects a mount of a volume that the operator applied before, and no longer
// applies.
func isDangling(pointer []string, before, body *object) bool {
	mount := pointedAt(before.Object, pointer)
	if body == nil || mount == nil {
		return false
	}
	found := false
	ownFields(before).Iterate(func(path fieldpath.Path) {
		gone := path[len(path)-1].Key != nil && at(body.Object, path) == nil
		found = found || gone && isMountOf(mount, at(before.Object, path))
	})
	return found
}

func isMountOf(mount, volume any) bool {
	fields, _ := mount.(map[string]any)
	its, _ := volume.(map[string]any)
	return fields["mountPath"] != nil && its["mountPath"] == nil && fields["name"] == its["name"]
}

// pointedAt returns the value at a JSON pointer, or nil if there is none.
func pointedAt(content any, pointer []string) any {
	for _, name := range pointer {
		switch here := content.(type) {
		case map[string]any:
			content = here[name]
		case []any:
			index, err := strconv.Atoi(name)
			if err != nil || index < 0 || index >= len(here) {
				return nil
			}
			content = here[index]
		default:
			return nil
		}
	}
	return content
}
