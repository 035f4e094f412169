package model

import (
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

func unownedRules() []Rule {
	return []Rule{{
		Name: "unowned fields stay",
		Promise: "The operator owns only the fields that it sets. It keeps additions of other clients, with these " +
			"exceptions: additions with which the API server refuses the operator's own fields, additions in a list item " +
			"that the operator removes, the readiness gate of slots after slots were removed, and the fields of an earlier " +
			"version of the operator.",
		New: func(p *past) func(history.Entry) string {
			t := others{past: p, applied: map[types.UID]application{}, refused: map[string]*audit.Request{}}
			return t.check
		},
	}, {
		Name:    "the selector stays",
		Promise: "The selector of a Deployment selects the Pods of its Memcached, and never changes.",
		New:     selector,
	}, {
		Name: "no secrets",
		Promise: "No part of the content of a Secret is in a status, an event, an object or the operator's log, except " +
			"in the data of a binding's Secret.",
		New: noSecrets,
	}}
}

// others judges how the operator changes the fields of other clients.
type others struct {
	*past

	applied map[types.UID]application // the last application to each object
	refused map[string]*audit.Request // by URI: the last write of an object, if the API server refused it as invalid
}

// application has the fields that the operator applied to an object, and the spec for which it applied them (cause).
type application struct {
	fields  *fieldpath.Set
	process history.Process
	cause   string
}

func (t *others) check(e history.Entry) string {
	q := requestOf(e)
	if q != nil && q.User.Username == t.operator && !reads[q.Verb] {
		defer t.note(q)
	}
	o, by := t.writes(e)
	if o == nil || e.State.Type == watch.Deleted {
		return ""
	}
	defer t.noteApplied(o, by)
	before := t.before(o)
	if e.State.Type != watch.Modified || before == nil || before.GetAnnotations()[appliedHash] == "" {
		return "" // It may take over the fields of an earlier version.
	}
	if isJSONPatch(by) {
		return t.removed(before, by)
	}
	return t.changed(before, o, by)
}

// note keeps a write that the API server refused as invalid, until the next write of the object.
func (t *others) note(q *audit.Request) {
	path, _, _ := strings.Cut(q.URI, "?")
	delete(t.refused, path)
	if q.Response.Code == http.StatusUnprocessableEntity {
		t.refused[path] = q
	}
}

func (t *others) noteApplied(o *object, by *audit.Request) {
	if by.FieldManager() == fieldManager && !isJSONPatch(by) {
		t.applied[o.GetUID()] = application{ownFields(o), history.ProcessOf(by), t.cause(o, by)}
	}
}

// cause returns the spec for which the operator applied an object. It is empty if the spec may have been one of
// several.
func (t *others) cause(o *object, by *audit.Request) string {
	cause := ""
	for _, mc := range t.specsFor(o, by) {
		this := encoded(mc.Spec) + string(mc.UID)
		if cause != "" && cause != this {
			return ""
		}
		cause = this
	}
	return cause
}

// changed returns which field of another client an application changed.
func (t *others) changed(before, o *object, by *audit.Request) string {
	had, own, last := ownFields(before), ownFields(o), t.applied[o.GetUID()]
	sameSpec := last.cause != "" && last.process == history.ProcessOf(by) && last.cause == t.cause(o, by)
	for _, entry := range before.GetManagedFields() {
		if isOperators(entry) || entry.Subresource != "" {
			continue
		}
		lost := firstLost(fieldsOf(entry).Leaves(), before, o, func(path fieldpath.Path) bool {
			// The metadata that the operator sets depends only on the spec. So it must not set more for the same spec.
			seized := sameSpec && isMetadata(path) && !last.fields.Has(path)
			return (own.Has(path) || ownsWithin(own, path)) && !seized || isInRemoved(path, had, own)
		})
		if lost != "" {
			return fmt.Sprintf("the operator changed %s %s, field of %q: %s", o.GetKind(), o.GetName(), entry.Manager, lost)
		}
	}
	return ""
}

// ownsWithin reports whether the operator owns fields below a path. Then another client owns only the map that contains
// them, because it set the fields first, or because its managed fields were removed.
func ownsWithin(own *fieldpath.Set, path fieldpath.Path) bool {
	found := false
	own.Iterate(func(field fieldpath.Path) {
		found = found || len(field) > len(path) && field[:len(path)].Equals(path)
	})
	return found
}

// isInRemoved reports whether a path is in a list item that the operator owned, and no longer owns. Server-side apply
// then removes all of the item.
func isInRemoved(path fieldpath.Path, before, now *fieldpath.Set) bool {
	for n := range path {
		if path[n].Key != nil && before.Has(path[:n+1]) && !now.Has(path[:n+1]) {
			return true
		}
	}
	return false
}

// isMetadata reports whether a path is a label or an annotation. The operator's annotations do not count.
func isMetadata(path fieldpath.Path) bool {
	return len(path) == 3 && path[0].FieldName != nil && *path[0].FieldName == "metadata" &&
		path[2].FieldName != nil && !strings.HasPrefix(*path[2].FieldName, "cache.example.com/")
}

func isOperators(entry metav1.ManagedFieldsEntry) bool {
	return strings.HasPrefix(entry.Manager, fieldManager)
}

// firstLost returns the first field of a set that differs between two states of an object although it must not, with
// both values.
func firstLost(fields *fieldpath.Set, before, after *object, mayDiffer func(fieldpath.Path) bool) (lost string) {
	fields.Iterate(func(path fieldpath.Path) {
		was, is := at(before.Object, path), at(after.Object, path)
		if lost == "" && was != nil && !mayDiffer(path) && encoded(was) != encoded(is) {
			lost = fmt.Sprintf("%s: %s -> %s", path, shown(was), shown(is))
		}
	})
	return lost
}

func selector(p *past) func(history.Entry) string {
	selectors := map[types.UID]string{}
	return func(e history.Entry) string {
		if e.State == nil || !isMain(e.State.Object) {
			return ""
		}
		o := e.State.Object
		selector := encoded(value(o, "spec", "selector"))
		before, known := selectors[o.GetUID()]
		selectors[o.GetUID()] = selector
		wanted := encoded(map[string]any{"matchLabels": map[string]any{"app": "memcached", "memcached_cr": o.GetName()}})
		switch {
		case known && before != selector:
			return fmt.Sprintf("the selector of Deployment %s changed: %s -> %s", o.GetName(), before, selector)
		case p.byOperator(e) != nil && selector != wanted:
			return fmt.Sprintf("the operator wrote Deployment %s with the selector %s", o.GetName(), selector)
		}
		return ""
	}
}

func noSecrets(p *past) func(history.Entry) string {
	return func(e history.Entry) string {
		if strings.HasPrefix(e.Step, history.Logged) && history.IsSecret(e.Step) {
			return e.Step
		}
		q := requestOf(e)
		if q == nil || q.User.Username != p.operator || !history.IsSecret(public(q)) {
			return ""
		}
		return fmt.Sprintf("the operator wrote a part of the content of a Secret: %s %s", q, q.URI)
	}
}

// public returns the body of a request without the data of a binding.
func public(q *audit.Request) string {
	body := bodyOf(q)
	if body == nil || !isOfBinding(q) {
		return string(q.Body)
	}
	delete(body.Object, "data")
	return encoded(body.Object)
}
