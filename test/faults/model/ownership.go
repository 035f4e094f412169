package model

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

func ownershipRules() []Rule {
	return []Rule{{
		Name: "ownership",
		Promise: "The operator writes a managed object only in one of these cases: the object did not exist; the " +
			"Memcached is its controller; or the object has no owner, and either its annotation adopt-by names the " +
			"Memcached, or the operator has applied the object before.",
		New: ownership,
	}, {
		Name: "one owner",
		Promise: "A managed object is named after its Memcached. This Memcached is the object's only controller, and the " +
			"only Memcached among its owners. The operator writes nothing for a Memcached that is deleted, or is being deleted.",
		New: oneOwner,
	}, {
		Name: "rights",
		Promise: "In the namespaces that it serves, the operator writes Deployments, Services, EndpointSlices, " +
			"NetworkPolicies, PodDisruptionBudgets, Certificates, events, the Secrets of bindings and the status of " +
			"Memcacheds. In Pods with slots, it writes two annotations, one condition, and the memory of memcached's " +
			"container. In Pods that answer clients with auto discovery, it writes an annotation and a label, and in Pods " +
			"that copy the keys of other servers, an annotation. It writes nothing else, but may send access reviews about " +
			"its own rights.",
		New: rights,
	}}
}

func ownership(p *past) func(history.Entry) string {
	return func(e history.Entry) string {
		o, by := p.writes(e)
		if o == nil || p.before(o) == nil {
			return ""
		}
		// The operator decides what to write from the state that it has read. The object may have changed since, because the
		// precondition of a write is only the uid. Only a deletion also has the resource version as a precondition.
		seen := []*object{p.before(o)}
		if e.State.Type != watch.Deleted {
			seen = p.seen(history.ProcessOf(by), o.GetUID())
		}
		if slices.ContainsFunc(seen, func(o *object) bool { return p.mayWrite(o, by) }) {
			return ""
		}
		return fmt.Sprintf("the operator's %s of %s %s, which belonged to %s and did not allow an adoption",
			by.Verb, o.GetKind(), o.GetName(), owners(p.before(o)))
	}
}

// mayWrite reports whether the operator may write an object that it finds in this state.
func (p *past) mayWrite(o *object, by *audit.Request) bool {
	if owner := controllerOf(o); owner.Kind == "Memcached" {
		return owner.Name == cacheFor(o) && p.existed(history.ProcessOf(by), owner.UID)
	}
	others := slices.DeleteFunc(slices.Clone(o.GetOwnerReferences()), func(owner metav1.OwnerReference) bool {
		return owner.Kind == "Memcached" && owner.Name == cacheFor(o) && p.existed(history.ProcessOf(by), owner.UID)
	})
	return len(others) == 0 && (o.GetAnnotations()[cachev1.AnnotationAdoptBy] == cacheFor(o) || wasApplied(o))
}

// wasApplied reports whether the managed fields show that the operator applied the annotation with its hash.
func wasApplied(o *object) bool {
	return slices.ContainsFunc(o.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == fieldManager && entry.Operation == metav1.ManagedFieldsOperationApply &&
			entry.FieldsV1 != nil && strings.Contains(entry.FieldsV1.GetRawString(), `"f:`+appliedHash+`"`)
	})
}

func owners(o *object) string {
	var names []string
	for _, owner := range o.GetOwnerReferences() {
		names = append(names, fmt.Sprintf("%s %s (uid %s)", owner.Kind, owner.Name, owner.UID))
	}
	if len(names) == 0 {
		return "nobody"
	}
	return strings.Join(names, " and ")
}

func oneOwner(p *past) func(history.Entry) string {
	return func(e history.Entry) string {
		o, by := p.writes(e)
		if o == nil || e.State.Type == watch.Deleted || by.FieldManager() != fieldManager || isJSONPatch(by) {
			return ""
		}
		owner := controllerOf(o)
		same := 0
		for _, other := range o.GetOwnerReferences() {
			if other.Kind == "Memcached" {
				same++
			}
		}
		switch {
		case owner.Kind != "Memcached" || owner.Name != cacheFor(o):
			return fmt.Sprintf("the operator wrote %s %s, which belongs to %s", o.GetKind(), o.GetName(), owners(o))
		case same > 1:
			return fmt.Sprintf("%s %s has %d Memcacheds as owners: %s", o.GetKind(), o.GetName(), same, owners(o))
		case e.State.Type == watch.Added && !p.existed(history.ProcessOf(by), owner.UID):
			return fmt.Sprintf("the operator created %s %s for a Memcached (uid %s) that has not existed since the "+
				"operator started",
				o.GetKind(), o.GetName(), owner.UID)
		case p.isBeingDeleted(history.ProcessOf(by), owner.UID):
			return fmt.Sprintf("the operator wrote %s %s for a Memcached that is being deleted", o.GetKind(), o.GetName())
		}
		return ""
	}
}

// isBeingDeleted reports whether a process of the operator must know that an object is being deleted.
func (p *past) isBeingDeleted(process history.Process, uid types.UID) bool {
	seen := p.seen(process, uid)
	return len(seen) > 0 && !slices.ContainsFunc(seen, func(o *object) bool { return o.GetDeletionTimestamp() == nil })
}

// isJSONPatch reports whether the body of a patch is a JSON patch, and not an applied object.
func isJSONPatch(q *audit.Request) bool { return strings.HasPrefix(string(q.Body), "[") }

// writable are the resources that the operator may write.
var writable = map[string]bool{
	"memcacheds/status": true, "deployments": true, "services": true,
	"networkpolicies": true, "poddisruptionbudgets": true, "events": true, "endpointslices": true,
	"certificates": true, "jobs": true, "memcachedsnapshots/status": true,
}

// reviewsRights is a resource that is never stored: creating one only asks the API server about the client's rights.
const reviewsRights = "selfsubjectaccessreviews"

// reads are the verbs that write nothing.
var reads = map[string]bool{"get": true, "list": true, "watch": true}

func rights(p *past) func(history.Entry) string {
	return func(e history.Entry) string {
		q := requestOf(e)
		if q == nil || q.User.Username != p.operator || reads[q.Verb] ||
			q.Verb == "create" && q.Resource() == reviewsRights ||
			q.ObjectRef.Namespace == p.namespace && (writable[q.Resource()] || isOfSlots(q) || isOfBinding(q)) {
			return ""
		}
		return "the operator sent: " + q.String() + " " + q.URI
	}
}
