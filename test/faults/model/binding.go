package model

import (
	"fmt"
	"slices"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

// bindingType is the type of the Secrets that the operator may write.
const bindingType = "servicebinding.io/memcached"

func bindingRules() []Rule {
	return []Rule{{
		Name: "bindings",
		Promise: "The operator writes a Secret only if it is the binding of a Memcached whose spec names it, and only if " +
			"it did not exist, belongs to the Memcached, or may be adopted. It deletes only a binding that the spec of its " +
			"Memcached does not name. A Ready Memcached has its binding, and its status names the binding.",
		New: func(p *past) func(history.Entry) string {
			return func(e history.Entry) string {
				if wrong := p.wrongBinding(e); wrong != "" {
					return wrong
				}
				return p.seized(e)
			}
		},
	}}
}

// isOfBinding reports whether a request writes a Secret that looks like the Secret of a binding.
func isOfBinding(q *audit.Request) bool {
	isApply := q.Verb == "patch" && text(bodyOf(q), "type") == bindingType
	return q.ObjectRef.Resource == "secrets" && (isApply || q.Verb == "delete" || isJSONPatch(q))
}

// wrongBinding judges each request to write a Secret and, at rest, whether each Memcached has the Secret of its
// binding.
func (p *past) wrongBinding(e history.Entry) string {
	if e.Step == history.PhaseAtRest || e.Step == history.PhaseReady {
		return p.missingBinding()
	}
	q := requestOf(e)
	if q == nil || q.User.Username != p.operator || !isOfBinding(q) || isJSONPatch(q) {
		return ""
	}
	secret := bodyOf(q)
	if q.Verb == "delete" {
		secret = p.lastNamed(q.ObjectRef.Name)
	}
	owner := controllerOf(secret)
	if owner.Kind != "Memcached" && !wasApplied(secret) {
		return fmt.Sprintf("the operator sent a %s of the Secret %s, "+
			"which belongs to %s", q.Verb, q.ObjectRef.Name, owners(secret))
	}
	specs := p.specsNamed(owner.Name, history.ProcessOf(q))
	if !slices.ContainsFunc(specs, func(mc *cachev1.Memcached) bool {
		return (orEmpty(mc.Spec.Binding).SecretName == q.ObjectRef.Name) == (q.Verb != "delete")
	}) && owner.Name != "" {
		return fmt.Sprintf("the operator sent a %s of Secret %s against the spec of %s", q.Verb, q.ObjectRef.Name, owner.Name)
	}
	return ""
}

// lastNamed returns the last state of the Secret with this name.
func (p *past) lastNamed(name string) *object {
	last := moment{object: &object{}}
	for _, states := range p.objects {
		if state := states[len(states)-1]; refOf(state.object) == (ref{"Secret", name}) && state.at >= last.at {
			last = state
		}
	}
	return last.object
}

// seized returns a violation if the operator applied a Secret of another client.
func (p *past) seized(e history.Entry) string {
	if e.State == nil || e.State.Object.GetKind() != "Secret" || !wasApplied(e.State.Object) {
		return ""
	}
	now, before := e.State.Object, p.before(e.State.Object)
	if before == nil || wasApplied(before) || controllerOf(before).Kind == "Memcached" ||
		before.GetAnnotations()[cachev1.AnnotationAdoptBy] != "" {
		return ""
	}
	return fmt.Sprintf("the operator took Secret %s, which belonged to %s", now.GetName(), owners(before))
}

// missingBinding returns which part of its binding a Ready Memcached does not have.
func (p *past) missingBinding() string {
	for _, o := range p.memcacheds() {
		mc := p.memcached(o)
		if mc.Spec.Suspend || mc.DeletionTimestamp != nil || !isTrue(mc, cachev1.ConditionReady) ||
			mc.Status.ObservedGeneration != mc.Generation {
			continue
		}
		name, named := orEmpty(mc.Spec.Binding).SecretName, orEmpty(mc.Status.Binding).Name
		if named != name {
			return fmt.Sprintf("%s is Ready, and its status names the binding %q, not %q", mc.Name, named, name)
		}
		for _, secret := range p.existing("Secret") {
			if controllerOf(secret).UID == mc.UID && secret.GetName() != name && text(secret, "type") == bindingType {
				return fmt.Sprintf("%s is Ready, and the Secret %s of a former binding still exists", mc.Name, secret.GetName())
			}
		}
		if secret := p.current[ref{"Secret", name}]; name != "" && controllerOf(secret).UID != mc.UID {
			return fmt.Sprintf("%s is Ready, and does not own a Secret %s", mc.Name, name)
		}
	}
	return ""
}
