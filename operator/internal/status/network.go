package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

// exposure states who can reach the Pods while their NetworkPolicy is not as desired.
func exposure(in Input) string {
	policy, wanted := in.Report.Of(observe.PolicyKind.GroupKind())
	if !wanted || policy.IsMade() {
		return ""
	}
	live := in.Snapshot.Main(observe.PolicyKind.GroupKind())
	switch waiting := in.Report.Why(apply.Waiting); {
	case len(waiting) > 0:
		return "; in the meantime, " + waiting[0]
	case in.deployment() == nil:
		return ""
	case live != nil && metav1.IsControlledBy(live, in.Memcached):
		return "; in the meantime, the previous NetworkPolicy applies"
	}
	return "; in the meantime, no NetworkPolicy of this Memcached restricts access to the Pods"
}
