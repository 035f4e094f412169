package status

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

// named is a Secret with the field that names it.
type named struct {
	*observe.Secret
	field string
}

func (in Input) secrets() []named {
	var secrets []named
	if in.Snapshot.TLS != nil {
		secrets = append(secrets, named{in.Snapshot.TLS, "spec.tls.secretName"})
	}
	if in.Snapshot.Auth != nil {
		secrets = append(secrets, named{in.Snapshot.Auth, "spec.auth.secretName"})
	}
	return secrets
}

// A Secret that is missing often comes a moment later, such as from cert-manager: that is no reason to call for help.
func secretsAreThere(in Input) (verdict, bool) {
	var missing []string
	for _, secret := range in.secrets() {
		if secret.Missing {
			missing = append(missing, fmt.Sprintf("%s %q is not there: create the Secret in namespace %q",
				secret.field, secret.Name, in.Memcached.Namespace))
		}
	}
	return blocked(in, underWay, cachev1.ReasonSecretNotFound, missing)
}

func secretsAreValid(in Input) (verdict, bool) {
	var problems []string
	for _, secret := range in.secrets() {
		if secret.Problem != "" {
			problems = append(problems, fmt.Sprintf("%s %q: %s", secret.field, secret.Name, secret.Problem))
		}
	}
	return blocked(in, stuck, cachev1.ReasonInvalidSecret, problems)
}

// blocked says what becomes of the nodes meanwhile.
func blocked(in Input, state state, reason string, problems []string) (verdict, bool) {
	if len(problems) == 0 {
		return verdict{}, false
	}
	nodes := "No node is made before"
	if in.deployment() != nil {
		nodes = "The nodes that run keep what they have, and nothing else is changed before"
	}
	return verdict{state, reason, strings.Join(problems, "; ") + ". " + nodes}, true
}

func certificateHolds(in Input) (verdict, bool) {
	if in.Snapshot.TLS == nil || !in.Snapshot.TLS.Expired {
		return verdict{}, false
	}
	message := fmt.Sprintf("The certificate in the Secret %q ended at %s, and clients refuse it: renew it. "+
		"The nodes take the new one without a restart",
		in.Snapshot.TLS.Name, in.Snapshot.TLS.NotAfter.UTC().Format(time.RFC3339))
	return verdict{stuck, cachev1.ReasonCertificateExpired, message}, true
}

func tlsStatus(in Input) *cachev1.TLSStatus {
	secret := in.Snapshot.TLS
	if secret == nil || secret.Missing || secret.NotAfter.IsZero() {
		return nil
	}
	return &cachev1.TLSStatus{NotAfter: &metav1.Time{Time: secret.NotAfter.UTC()}}
}

// setRestartNeeded says that nodes were started before something was removed from a Secret: memcached forgets no client
// CA, and asks nobody twice for a password. What was said once holds until none of those nodes is left.
func setRestartNeeded(status *cachev1.MemcachedStatus, in Input) {
	now := restartNeeded(in, meta.FindStatusCondition(status.Conditions, cachev1.ConditionRestartNeeded))
	meta.RemoveStatusCondition(&status.Conditions, cachev1.ConditionRestartNeeded) // So that it gets the newer time.
	if now == nil || !madeBefore(in.Snapshot.Nodes, now.LastTransitionTime.Time) {
		return
	}
	now.ObservedGeneration = status.ObservedGeneration
	meta.SetStatusCondition(&status.Conditions, *now)
}

func restartNeeded(in Input, before *metav1.Condition) *metav1.Condition {
	removed := before
	tell := func(secret *observe.Secret, reason, consequence string) {
		if secret == nil || secret.Removed == "" ||
			removed != nil && !secret.RemovedSince.Truncate(time.Second).After(removed.LastTransitionTime.Time) {
			return
		}
		removed = &metav1.Condition{
			Type: cachev1.ConditionRestartNeeded, Status: metav1.ConditionTrue, Reason: reason,
			LastTransitionTime: metav1.NewTime(secret.RemovedSince.Truncate(time.Second)),
			Message: fmt.Sprintf("The Secret %q does not hold %s any more. %s, until the nodes that were started before are "+
				"restarted, which empties them: kubectl rollout restart deployment %s",
				secret.Name, secret.Removed, consequence, in.Memcached.Name),
		}
	}
	tell(in.Snapshot.TLS, cachev1.ReasonClientCARemoved, "Memcached forgets no client CA, and lets its clients in")
	tell(in.Snapshot.Auth, cachev1.ReasonUserRemoved, "Connections that are open stay logged in")
	return removed
}

// madeBefore tells whether a node may have been started with what a Secret held before. Kubernetes tells whole seconds.
func madeBefore(nodes []observe.Node, since time.Time) bool {
	for _, node := range nodes {
		if !node.Made.After(since) {
			return true
		}
	}
	return false
}
