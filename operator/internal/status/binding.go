package status

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

// bindingStatus returns a reference to the Secret of the binding while the Secret exists, so that a restarted operator
// knows of a Secret that is still to be deleted.
func bindingStatus(in Input) *cachev1.BindingStatus {
	if wanted := in.Plan.Binding; wanted != nil && in.hasSecret(wanted.SecretName) {
		return &cachev1.BindingStatus{Name: wanted.SecretName}
	}
	if before := in.Memcached.Status.Binding; before != nil && in.hasSecret(before.Name) {
		return before
	}
	return nil
}

// hasSecret reports whether the Memcached owns a Secret now: as observed, or as changed by this reconciliation.
func (in Input) hasSecret(name string) bool {
	key := observe.Key{GroupKind: observe.SecretKind.GroupKind(), Name: name}
	live := in.Snapshot.Objects[key]
	has := live != nil && metav1.IsControlledBy(live, in.Memcached)
	for _, outcome := range in.Report {
		if outcome.GroupKind == key.GroupKind && outcome.Name == name {
			has = has || slices.Contains([]apply.Result{apply.Created, apply.Updated, apply.Adopted}, outcome.Result)
			has = has && outcome.Result != apply.Deleted
		}
	}
	return has
}
