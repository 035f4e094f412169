package model

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

func unownedRules() []Rule {
	return []Rule{{
		Name: "unowned fields stay",
		Promise: "The operator owns only the fields that it sets. Additions of other clients stay, except those that the " +
			"API server refuses beside the operator's own, and those of an earlier operator.",
		New: unowned,
	}, {
		Name:    "the selector stays",
		Promise: "The selector of a Deployment selects the Pods of its Memcached, and never changes.",
		New:     selector,
	}, {
		Name:    "no secrets",
		Promise: "Nothing of the content of a Secret is in a status, an event or an object.",
		New:     noSecrets,
	}}
}

func unowned(p *past) func(history.Entry) string {
	return func(e history.Entry) string {
		o, by := p.writes(e)
		if o == nil || e.State.Type != watch.Modified || isJSONPatch(by) {
			return ""
		}
		before := p.before(o)
		if before == nil || before.GetAnnotations()[appliedHash] == "" {
			return "" // It may take over the fields of an earlier operator.
		}
		own := ownFields(o)
		for _, entry := range before.GetManagedFields() {
			if isOperators(entry) || entry.Subresource != "" {
				continue
			}
			if lost := firstLost(fieldsOf(entry).Leaves().Difference(own), before, o); lost != "" {
				return fmt.Sprintf("the operator changed %s %s, field of %q: %s", o.GetKind(), o.GetName(), entry.Manager, lost)
			}
		}
		return ""
	}
}

func isOperators(entry metav1.ManagedFieldsEntry) bool {
	return strings.HasPrefix(entry.Manager, fieldManager)
}

// firstLost returns the first field of a set that differs between two states of an object, with both values.
func firstLost(fields *fieldpath.Set, before, after *object) (lost string) {
	fields.Iterate(func(path fieldpath.Path) {
		was, is := at(before.Object, path), at(after.Object, path)
		if lost == "" && was != nil && encoded(was) != encoded(is) {
			lost = fmt.Sprintf("%s: %s -> %s", path, shown(was), shown(is))
		}
	})
	return lost
}

func selector(p *past) func(history.Entry) string {
	selectors := map[types.UID]string{}
	return func(e history.Entry) string {
		if e.State == nil || e.State.Object.GetKind() != "Deployment" {
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

// secretMark is in each value of a Secret that the campaign writes.
const secretMark = "do-not-show"

func noSecrets(p *past) func(history.Entry) string {
	return func(e history.Entry) string {
		q := e.Request
		if e.State != nil {
			q = e.State.By
		}
		if q == nil || q.User.Username != p.operator || !strings.Contains(string(q.Body), secretMark) {
			return ""
		}
		return fmt.Sprintf("the operator wrote what is in a Secret: %s %s", q, q.URI)
	}
}
