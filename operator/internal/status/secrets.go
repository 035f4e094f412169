package status

// The checks of Secrets, and the conditions about what was removed from them.

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/secrets"
)

// named is a Secret with the field of the spec that names it.
type named struct {
	*secrets.State
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

// A missing Secret is often created a moment later, for example by cert-manager, so this does not stall the cache.
func secretsExist(in Input) (verdict, bool) {
	var missing []string
	for _, secret := range in.secrets() {
		if secret.Missing {
			missing = append(missing, fmt.Sprintf("%s %q does not exist: create the Secret in namespace %q",
				secret.field, secret.Name, in.Memcached.Namespace))
		}
	}
	return blocked(in, reconciling, cachev1.ReasonSecretNotFound, missing)
}

func secretsAreValid(in Input) (verdict, bool) {
	var problems []string
	for _, secret := range in.secrets() {
		if secret.Problem != "" {
			problems = append(problems, fmt.Sprintf("%s %q: %s", secret.field, secret.Name, secret.Problem))
		}
	}
	return blocked(in, stalled, cachev1.ReasonInvalidSecret, problems)
}

// blocked adds what happens to the Pods meanwhile.
func blocked(in Input, state state, reason string, problems []string) (verdict, bool) {
	if len(problems) == 0 {
		return verdict{}, false
	}
	pods := "No Pods are created until then"
	switch {
	case in.Plan.Template == plan.KeepTemplate:
		pods = "Until then, running Pods are not replaced, and spec changes that need new Pods are not applied"
	case in.deployment() != nil:
		pods = "Running Pods keep what they loaded; new Pods cannot start until then"
	}
	return verdict{state, reason, strings.Join(problems, "; ") + ". " + pods}, true
}

func certificateIsValid(in Input) (verdict, bool) {
	if in.Snapshot.TLS == nil || !in.Snapshot.TLS.Expired || desiredSize(in) == 0 {
		return verdict{}, false
	}
	message := fmt.Sprintf("The certificate in the Secret %q expired at %s, and clients refuse it: renew it. "+
		"The Pods load the new one without a restart",
		in.Snapshot.TLS.Name, in.Snapshot.TLS.NotAfter.UTC().Format(time.RFC3339))
	return verdict{stalled, cachev1.ReasonCertificateExpired, message}, true
}

func tlsStatus(in Input) *cachev1.TLSStatus {
	secret := in.Snapshot.TLS
	if secret == nil || secret.Missing || secret.NotAfter.IsZero() {
		return nil
	}
	return &cachev1.TLSStatus{NotAfter: &metav1.Time{Time: secret.NotAfter.UTC()}}
}

// former is a condition about something that was removed from a Secret and that memcached still accepts.
type former struct{ condition, reason, consequence string }

var (
	formerClientCAs = former{
		cachev1.ConditionFormerClientCAs, cachev1.ReasonClientCARemoved,
		"Memcached keeps accepting clients of a removed CA",
	}
	formerUsers = former{
		cachev1.ConditionFormerUsers, cachev1.ReasonUserRemoved, "Open connections stay logged in",
	}
)

// setFormer sets the condition until every Pod that started before the removal is replaced. It keeps the condition
// that an earlier operator wrote, because this one does not know the Secret's former content.
func setFormer(status *cachev1.MemcachedStatus, in Input, about former, secret *secrets.State) {
	before := meta.FindStatusCondition(status.Conditions, about.condition)
	now := about.current(in, secret)
	if now == nil && before != nil && secret != nil && in.isOlder(before.LastTransitionTime.Time) &&
		secret.Restored.Before(before.LastTransitionTime.Time) {
		return
	}
	if now == nil {
		meta.RemoveStatusCondition(&status.Conditions, about.condition)
		return
	}
	if before != nil && !before.LastTransitionTime.Equal(&now.LastTransitionTime) {
		meta.RemoveStatusCondition(&status.Conditions, about.condition) // So that the condition gets the newer time.
	}
	now.ObservedGeneration = status.ObservedGeneration
	meta.SetStatusCondition(&status.Conditions, *now)
}

// current returns the condition, or nil if no Pod accepts more than the Secret holds.
func (f former) current(in Input, secret *secrets.State) *metav1.Condition {
	if secret == nil {
		return nil
	}
	var since time.Time
	var removed []string
	for _, removal := range secret.Removed {
		if in.isOlder(removal.Since) {
			since = removal.Since.Truncate(time.Second)
			removed = append(removed, removal.What)
		}
	}
	if len(removed) == 0 {
		return nil
	}
	return &metav1.Condition{
		Type: f.condition, Status: metav1.ConditionTrue, Reason: f.reason, LastTransitionTime: metav1.NewTime(since),
		Message: Shorten(fmt.Sprintf("Removed from the Secret %q: %s. %s until the Pods that started before that are "+
			"restarted, which empties them: kubectl rollout restart deployment %s",
			secret.Name, strings.Join(slices.Compact(removed), ", "), f.consequence, in.Memcached.Name), longestMessage),
	}
}

// isOlder reports whether a Pod may have started before a time. Kubernetes records whole seconds.
func (in Input) isOlder(than time.Time) bool {
	return !in.Snapshot.Oldest.IsZero() && !in.Snapshot.Oldest.After(than)
}
