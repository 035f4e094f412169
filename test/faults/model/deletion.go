package model

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/watch"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

func deletionRules() []Rule {
	return []Rule{{
		Name: "deletion",
		Promise: "The operator deletes only NetworkPolicies and PodDisruptionBudgets that the spec does not ask for, and " +
			"creates them only if it does.",
		New: deletion,
	}, {
		Name:    "nothing is left",
		Promise: "What a deleted Memcached owned is deleted, and nothing is created for it.",
		New:     nothingIsLeft,
	}}
}

// asksFor reports whether a spec asks for an object.
func asksFor(mc *cachev1.Memcached, kind string) bool {
	switch kind {
	case "NetworkPolicy":
		return mc.Spec.NetworkPolicy == nil || mc.Spec.NetworkPolicy.Mode != cachev1.NetworkPolicyDisabled
	case "PodDisruptionBudget":
		return sizeOf(mc) >= 2
	}
	return true
}

func deletion(p *past) func(history.Entry) string {
	return func(e history.Entry) string {
		o, by := p.writes(e)
		if o == nil || e.State.Type == watch.Modified {
			return ""
		}
		deleted := e.State.Type == watch.Deleted
		if deleted && o.GetKind() != "NetworkPolicy" && o.GetKind() != "PodDisruptionBudget" {
			return fmt.Sprintf("the operator deleted %s %s", o.GetKind(), o.GetName())
		}
		specs := p.specsFor(o, by)
		if !slices.ContainsFunc(specs, func(mc *cachev1.Memcached) bool { return asksFor(mc, o.GetKind()) != deleted }) {
			return fmt.Sprintf("the operator %sd %s %s against the spec", by.Verb, o.GetKind(), o.GetName())
		}
		return ""
	}
}

func nothingIsLeft(p *past) func(history.Entry) string {
	return func(e history.Entry) string {
		if e.Step != history.PhaseEnd {
			return ""
		}
		for kind := range managed {
			for _, o := range p.existing(kind, "") {
				owner := controllerOf(o)
				if owner.Kind == "Memcached" && !p.exists(owner.UID) {
					return fmt.Sprintf("%s %s is left of a Memcached that was deleted (uid %s)", kind, o.GetName(), owner.UID)
				}
			}
		}
		return ""
	}
}
