package change

// Compares the managed objects before and after a change.

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/wI2L/jsondiff"

	"github.com/example-inc/memcached-operator/operator/internal/desired"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// Action is what happens to an object.
type Action string

// Actions.
const (
	// Created: the cache did not need the object before.
	Created Action = "Created"

	// Updated: fields of the object change.
	Updated Action = "Updated"

	// Deleted: the cache does not need the object any more.
	Deleted Action = "Deleted"
)

// Object is a managed object that a change creates, updates or deletes.
type Object struct {
	Action Action       `json:"action"`
	Kind   string       `json:"kind"`
	Name   string       `json:"name"`
	Fields []Difference `json:"fields,omitempty"`
}

// Difference is a field that changes. A value is empty if the field is added or removed.
type Difference struct {
	Field  string `json:"field"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// formerObjects returns the objects that the operator applies without the change: none for a new cache. They are not
// known if the former spec is invalid.
func formerObjects(in Input, defaults plan.Defaults) (former []render.Object, known bool, err error) {
	if in.Before == nil {
		return nil, true, nil
	}
	outcome, template, err := desired.State(in.Before, in.Current, defaults)
	if err != nil {
		return nil, false, err
	}
	planned, known := plan.Of(outcome)
	if !known {
		return nil, false, nil
	}
	return render.Objects(planned, template, in.Current.Deployment), true, nil
}

// objects compares the objects before and after a change.
func objects(before, after []render.Object) ([]Object, error) {
	former := map[observe.Key]render.Object{}
	for _, object := range before {
		former[keyOf(object)] = object
	}
	var found []Object
	for _, object := range after {
		old, existed := former[keyOf(object)]
		delete(former, keyOf(object))
		changed := Object{Action: Updated, Kind: object.Kind, Name: *object.Metadata.Name}
		if !existed {
			changed.Action = Created
			found = append(found, changed)
			continue
		}
		fields, err := compare(old.Configuration, object.Configuration)
		if err != nil {
			return nil, err
		}
		if changed.Fields = fields; len(fields) > 0 {
			found = append(found, changed.withoutSecrets())
		}
	}
	for _, object := range before {
		if _, deleted := former[keyOf(object)]; deleted {
			found = append(found, Object{Action: Deleted, Kind: object.Kind, Name: *object.Metadata.Name})
		}
	}
	return found, nil
}

func keyOf(object render.Object) observe.Key {
	return observe.Key{GroupKind: object.GroupKind, Name: *object.Metadata.Name}
}

// withoutSecrets leaves out the values of a Secret.
func (o Object) withoutSecrets() Object {
	for i := range o.Fields {
		if o.Kind == observe.SecretKind.Kind {
			o.Fields[i].Before, o.Fields[i].After = "", ""
		}
	}
	return o
}

// recordPath is the end of the path to the annotation with the operator's own record, which changes with every Pod
// template.
var recordPath = "/annotations/" + strings.ReplaceAll(names.AnnotationTemplateInputs, "/", "~1")

// compare returns the fields in which the JSON of two values differs.
func compare(before, after any) ([]Difference, error) {
	patch, err := jsondiff.Compare(before, after)
	if err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	var found []Difference
	for _, operation := range patch {
		if strings.HasSuffix(operation.Path, recordPath) {
			continue
		}
		difference := Difference{Field: fieldOf(operation.Path)}
		if operation.Type != jsondiff.OperationAdd {
			difference.Before = written(operation.OldValue)
		}
		if operation.Type != jsondiff.OperationRemove {
			difference.After = written(operation.Value)
		}
		found = append(found, difference)
	}
	return found, nil
}

// fieldOf writes a JSON pointer as a path: /spec/args/0 is spec.args[0].
func fieldOf(pointer string) string {
	path := ""
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		_, err := strconv.Atoi(part)
		switch {
		case err == nil || part == "-":
			path += "[" + part + "]"
		case strings.ContainsAny(part, "./"):
			path += "[" + part + "]"
		case path == "":
			path = part
		default:
			path += "." + part
		}
	}
	return path
}

// written returns a value on one line.
func written(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	content, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(content)
}
