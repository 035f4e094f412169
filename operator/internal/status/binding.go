package status

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

// bindingStatus refers to the Secret of the binding once it exists, and until it is deleted: so a restarted operator
// knows of one that is still to be deleted.
func bindingStatus(in Input) *cachev1.BindingStatus {
	if wanted := in.Plan.Binding; wanted != nil && in.hasSecret(wanted.SecretName) {
		return &cachev1.BindingStatus{Name: wanted.SecretName}
	}
	if before := in.Memcached.Status.Binding; before != nil && in.hasSecret(before.Name) {
		return before
	}
	return nil
}

// hasSecret reports whether the Memcached owns a Secret, by what was observed and what was done then.
func (in Input) hasSecret(name string) bool {
	key := observe.Key{GroupKind: observe.SecretKind.GroupKind(), Name: name}
	if i := slices.IndexFunc(in.Report, func(o apply.Outcome) bool { return o.GroupKind == key.GroupKind && o.Name == name }); i >= 0 {
		switch in.Report[i].Result {
		case apply.Created, apply.Updated, apply.Adopted:
			return true
		case apply.Deleted:
			return false
		}
	}
	live := in.Snapshot.Objects[key]
	return live != nil && metav1.IsControlledBy(live, in.Memcached)
}
