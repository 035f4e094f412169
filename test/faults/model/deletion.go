package model

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

func deletionRules() []Rule {
	return []Rule{{
		Name: "deletion",
		Promise: "The operator deletes only objects that the spec does not request, and only of these kinds: " +
			"NetworkPolicies, PodDisruptionBudgets, Certificates, Deployments of bootstraps, Jobs that restore snapshots, " +
			"objects of slots, and Secrets of bindings. It creates these objects only if the spec requests them.",
		New: deletion,
	}, {
		Name:    "nothing is left",
		Promise: "The objects that a deleted Memcached owned are deleted, and no objects are created for it.",
		New:     nothingIsLeft,
	}}
}

// requests reports whether a spec requests an object of this kind.
func requests(mc *cachev1.Memcached, kind string) bool {
	switch kind {
	case "NetworkPolicy":
		return mc.Spec.NetworkPolicy == nil || mc.Spec.NetworkPolicy.Mode != cachev1.NetworkPolicyDisabled
	case "PodDisruptionBudget":
		return sizeOf(mc) >= 2
	case "Certificate":
		return mc.Spec.TLS != nil && mc.Spec.TLS.IssuerRef != nil
	}
	return true
}

// kindOf has the kind of the managed objects for each resource.
var kindOf = map[string]string{
	"deployments": "Deployment", "services": "Service",
	"networkpolicies": "NetworkPolicy", "poddisruptionbudgets": "PodDisruptionBudget", "endpointslices": "EndpointSlice",
	"certificates": "Certificate",
}

// deletion judges each deletion that the operator requests, even if the API server refuses it, or keeps the object
// because of a finalizer.
func deletion(p *past) func(history.Entry) string {
	return func(e history.Entry) string {
		if q := requestOf(e); q != nil && q.User.Username == p.operator && q.Verb == "delete" {
			return p.notToBeDeleted(q)
		}
		o, by := p.writes(e)
		if o == nil || e.State.Type != watch.Added {
			return ""
		}
		specs := p.specsFor(o, by)
		may := func(mc *cachev1.Memcached) bool { return requests(mc, o.GetKind()) }
		if of, ok := slotOf(refOf(o)); ok {
			may = func(mc *cachev1.Memcached) bool { return p.mayHave(mc, of, history.ProcessOf(by)) }
		}
		if !slices.ContainsFunc(specs, may) {
			return fmt.Sprintf("the operator created %s %s against the spec", o.GetKind(), o.GetName())
		}
		return ""
	}
}

// notToBeDeleted returns why the operator may not request this deletion, or "" if it may.
func (p *past) notToBeDeleted(q *audit.Request) string {
	kind, name := kindOf[q.ObjectRef.Resource], q.ObjectRef.Name
	if isOfBinding(q) { // Another rule judges bindings.
		return ""
	}
	if of, ok := slotOf(ref{kind, name}); ok {
		return p.slotNotToBeDeleted(of, q)
	}
	if q.ObjectRef.Resource == "jobs" && p.restoresChanged(name) {
		return ""
	}
	if kind != "NetworkPolicy" && kind != "PodDisruptionBudget" && kind != "Certificate" {
		return fmt.Sprintf("the operator requested the deletion of %s %s, "+
			"and got the status code %d", q.Resource(), name, q.Response.Code)
	}
	for _, mc := range p.specsNamed(name, history.ProcessOf(q)) {
		if !requests(mc, kind) {
			return ""
		}
	}
	return fmt.Sprintf("the operator requested the deletion of %s %s, although the spec requests the object, and got "+
		"the status code %d", kind, name, q.Response.Code)
}

// restoresChanged reports whether a Job may restore a snapshot for an outdated spec: the snapshot, the size or the
// clientHash in the spec of its cache has changed.
func (p *past) restoresChanged(job string) bool {
	requested := map[string]bool{}
	for _, states := range p.objects {
		if o := states[0]; o.GetKind() != "Memcached" || o.GetName()+"-restore" != job {
			continue
		}
		for _, o := range states {
			requested[fmt.Sprint(value(o.object, "spec", "bootstrap", "from", "snapshot"), value(o.object, "spec", "size"),
				value(o.object, "spec", "slots", "clientHash"))] = true
		}
	}
	return len(requested) > 1
}

func nothingIsLeft(p *past) func(history.Entry) string {
	return func(e history.Entry) string {
		if e.Step != history.PhaseEnd {
			return ""
		}
		for kind := range managed {
			for _, o := range p.existing(kind) {
				owner := controllerOf(o)
				if owner.Kind == "Memcached" && !p.exists(owner.UID) {
					return fmt.Sprintf("%s %s still exists, although its Memcached (uid %s) was deleted", kind, o.GetName(), owner.UID)
				}
			}
		}
		return ""
	}
}
