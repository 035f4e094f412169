package status

// The checks of Secrets, and the condition RestartRequired about entries that were removed from them.

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
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
		switch requested := in.Plan.Certificate; {
		case !secret.Missing:
		case requested != nil && secret.State == in.Snapshot.TLS:
			missing = append(missing, in.unissued()...)
		default:
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

// blocked returns a verdict about problems of Secrets. Its message adds what happens to the Pods until the problems are
// solved.
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

// removable describes a kind of entries of a Secret. Memcached still accepts such entries after they were removed from
// the Secret, until memcached restarts.
type removable struct {
	reason, consequence string
	secret              func(observe.Snapshot) *secrets.State
}

// removables are in the order in which they become the reason of RestartRequired.
var removables = []removable{{
	cachev1.ReasonClientCARemoved, "memcached keeps accepting clients of a removed CA",
	func(s observe.Snapshot) *secrets.State { return s.TLS },
}, {
	cachev1.ReasonUserRemoved, "open connections stay logged in",
	func(s observe.Snapshot) *secrets.State { return s.Auth },
}}

// setRestartRequired reports the entries that were removed, until every Pod that started before their removal is
// replaced.
func setRestartRequired(status *cachev1.MemcachedStatus, in Input) {
	var required []cachev1.RestartRequirement
	var removed, consequences []string
	for _, r := range removables {
		found := r.requirements(in)
		for _, each := range found {
			removed = append(removed, fmt.Sprintf("removed from the Secret %q: %s", each.SecretName, each.Removed))
		}
		if len(found) > 0 {
			consequences = append(consequences, r.consequence)
		}
		required = append(required, found...)
	}
	status.RestartRequired = required
	if len(required) == 0 {
		meta.RemoveStatusCondition(&status.Conditions, cachev1.ConditionRestartRequired)
		return
	}
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: cachev1.ConditionRestartRequired, Status: metav1.ConditionTrue, Reason: required[0].Reason,
		ObservedGeneration: status.ObservedGeneration, LastTransitionTime: metav1.NewTime(in.Now),
		Message: fmt.Sprintf("%s. %s until the Pods that started before the removal are restarted "+
			"(this empties the Pods, unless they hand their keys over): kubectl rollout restart deployment %s",
			sentence(strings.Join(removed, "; ")), sentence(strings.Join(consequences, ", and ")), in.Memcached.Name),
	})
}

// sentence returns a text with its first letter in upper case.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// longestRemoved is the API's limit of the list of removed entries.
const longestRemoved = 1024

// mostRequirements limits how many requirements are kept for one reason. The API's limit for both reasons together is
// twice that number.
const mostRequirements = 8

// requirements returns the reasons why Pods have to be restarted. These are the removals that this operator process
// noticed, and those that earlier processes recorded, because this process does not know what the Secret contained
// then.
func (r removable) requirements(in Input) []cachev1.RestartRequirement {
	secret := r.secret(in.Snapshot)
	if secret == nil {
		secret = &secrets.State{} // The spec names no Secret now. Running Pods may still use one.
	}
	var found []cachev1.RestartRequirement
	for _, before := range in.Memcached.Status.RestartRequired {
		if before.Reason == r.reason && !noticed(secret, before.Since.Time) && in.isOlder(before.Since.Time) {
			found = append(found, before)
		}
	}
	var since time.Time
	var removed []string
	for _, removal := range secret.Removed {
		if in.isOlder(removal.Since) {
			since = removal.Since.Truncate(time.Second)
			removed = append(removed, removal.What)
		}
	}
	if len(removed) > 0 {
		found = append(found, cachev1.RestartRequirement{
			Reason: r.reason, Since: metav1.NewTime(since), SecretName: secret.Name,
			Removed: Shorten(strings.Join(slices.Compact(removed), ", "), longestRemoved),
		})
	}
	return found[max(0, len(found)-mostRequirements):]
}

// noticed reports whether this process noticed a removal in that second. If so, it knows from the Secret whether the
// removal still counts.
func noticed(secret *secrets.State, second time.Time) bool {
	return slices.ContainsFunc(secret.Noticed, func(at time.Time) bool { return second.Equal(at.Truncate(time.Second)) })
}

// isOlder reports whether a Pod may have started before a time. Kubernetes records whole seconds.
func (in Input) isOlder(than time.Time) bool {
	return !in.Snapshot.Oldest.IsZero() && !in.Snapshot.Oldest.After(than)
}
