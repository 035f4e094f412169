package model

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

// Explain describes a violation, and the last entries before it that may be related: all steps, the states of the same
// cache's objects, and the operator's requests for this cache. For each state, Explain lists how it differs from the
// object's state before.
func Explain(h *history.History, v Violation, lines int) string {
	cache := cacheOf(h.Entries[v.Entry])
	var entries []string
	before := map[types.UID]*object{}
	for i, e := range h.Entries[:v.Entry+1] {
		if i == v.Entry || concerns(e, cache, h.Operator) {
			entries = append(entries, "  "+e.String()+"\n"+changes(e, before))
		}
		if e.State != nil {
			before[e.State.Object.GetUID()] = e.State.Object
		}
	}
	omitted := ""
	if more := len(entries) - lines; more > 0 {
		entries, omitted = entries[more:], fmt.Sprintf("  … %d entries before\n", more)
	}
	return fmt.Sprintf("%s: %s\n%s%s", v.Rule, v.What, omitted, strings.Join(entries, ""))
}

// cacheOf returns the name of the Memcached that an entry is about; empty if it may be any.
func cacheOf(e history.Entry) string {
	switch {
	case e.State != nil:
		return instance(e.State.Object)
	case e.Request != nil && namedAsCache[e.Request.ObjectRef.Resource]:
		return cacheNamed(kindOf[e.Request.ObjectRef.Resource], e.Request.ObjectRef.Name)
	}
	return ""
}

var namedAsCache = map[string]bool{
	"memcacheds": true, "deployments": true, "services": true, "networkpolicies": true, "poddisruptionbudgets": true,
	"endpointslices": true, "certificates": true,
}

// instance returns the Memcached that an object belongs to, by its label or name.
func instance(o *object) string {
	if cache := o.GetLabels()["memcached_cr"]; cache != "" {
		return cache
	}
	return cacheFor(o)
}

// concerns reports whether an entry may matter for a cache: a step, a stored state, or a request of the operator.
// Watches, and failed requests of Kubernetes' controllers, are omitted, because they only hide the other entries.
func concerns(e history.Entry, cache, operator string) bool {
	switch {
	case e.State != nil:
		return cache == "" || instance(e.State.Object) == cache
	case e.Request != nil:
		q := e.Request
		of := cmp.Or(cacheOfRequest(q), q.ObjectRef.Name)
		other := of != "" && of != cache && cache != ""
		return q.User.Username == operator && q.Verb != "watch" && !other
	}
	return e.Delay == nil
}

// These are the bounds of the changes that are printed for a state.
const (
	mostChanges  = 6
	longestValue = 160
)

// boring are fields that differ between any two states of an object, so they are not printed.
var boring = []string{"metadata.resourceVersion:", "metadata.managedFields", "metadata.generation:"}

// changes returns the differences from the state before, one per line.
func changes(e history.Entry, before map[types.UID]*object) string {
	if e.State == nil || before[e.State.Object.GetUID()] == nil {
		return ""
	}
	was := before[e.State.Object.GetUID()]
	var lines []string
	for _, difference := range differences("", was.Object, e.State.Object.Object) {
		if !startsWithAny(difference, boring) {
			lines = append(lines, "      "+cut(difference)+"\n")
		}
	}
	if more := len(lines) - mostChanges; more > 0 {
		lines = append(lines[:mostChanges], fmt.Sprintf("      … %d more\n", more))
	}
	return strings.Join(lines, "")
}

func startsWithAny(text string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}

func cut(text string) string {
	if len(text) <= longestValue {
		return text
	}
	return strings.ToValidUTF8(text[:longestValue], "") + "…"
}
