package model

import (
	"fmt"
	"net/http"
	"slices"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

// unwatched is a type of Secrets that the operator does not watch, so the operator may not know of changes to these
// Secrets.
const unwatched = "helm.sh/release.v1"

// secretState is the state of the Secrets that a Memcached names, as the history shows it.
type secretState struct {
	missing string // a Secret that does not exist
	invalid bool   // whether a Secret may be invalid
	changed int    // the index of the last entry that changed a Secret
	unknown bool   // whether the operator may not know of a change
}

func (p *past) secretsOf(mc *cachev1.Memcached) secretState {
	state := secretState{changed: -1}
	var names []string
	if name := mc.TLSSecretName(); name != "" {
		names = append(names, name)
	}
	if auth := mc.Spec.Auth; auth != nil {
		names = append(names, auth.SecretName)
	}
	for _, name := range names {
		for _, states := range p.objects {
			last := states[len(states)-1]
			if refOf(last.object) == (ref{"Secret", name}) {
				state.changed = max(state.changed, last.at)
				state.unknown = state.unknown || text(last.object, "type") == unwatched
			}
		}
		secret := p.current[ref{"Secret", name}]
		if secret == nil {
			state.missing = name
		} else if secret.GetAnnotations()[history.Holds] != history.HoldsValid {
			state.invalid = true
		}
	}
	return state
}

// wrongOfSecrets returns how the reason of Ready contradicts the Secrets that a Memcached names. The operator must know
// these Secrets, unless something failed since they changed.
func (p *past) wrongOfSecrets(mc *cachev1.Memcached) string {
	reason, secrets := conditionOf(mc, cachev1.ConditionReady).Reason, p.secretsOf(mc)
	since, fresh := p.judgedSince(mc, secrets.changed)
	switch {
	case mc.Spec.Suspend || secrets.unknown || !fresh || p.failedSince(since):
		return ""
	case secrets.missing != "" && !slices.Contains(reasonsWithoutSecret(mc), reason):
		return fmt.Sprintf("the Secret %s does not exist, and the reason is %s", secrets.missing, reason)
	case secrets.missing == "" && reason == cachev1.ReasonSecretNotFound:
		return "the reason is SecretNotFound, and all Secrets exist"
	case secrets.missing == "" && !secrets.invalid && reason == cachev1.ReasonInvalidSecret:
		return "the reason is InvalidSecret, and all Secrets are valid"
	}
	return ""
}

// reasonsWithoutSecret are the reasons that a Memcached may have while a Secret does not exist. If cert-manager writes
// the Secret, the Memcached may be waiting for its Certificate.
func reasonsWithoutSecret(mc *cachev1.Memcached) []string {
	reasons := []string{cachev1.ReasonSecretNotFound, cachev1.ReasonInvalidSpec}
	if requests(mc, "Certificate") {
		reasons = append(reasons, cachev1.ReasonCertificateUnavailable, cachev1.ReasonOwnershipConflict,
			cachev1.ReasonFieldManagerConflict, cachev1.ReasonApplyFailed)
	}
	return reasons
}

// judgedSince returns the index of the last entry on which the operator had to act: a Secret or the Memcached changed,
// or the process started. fresh is false if another client wrote the status last.
func (p *past) judgedSince(mc *cachev1.Memcached, changed int) (since int, fresh bool) {
	states := p.objects[mc.UID]
	by := p.byOperator(p.entries[states[len(states)-1].at])
	if by == nil {
		return 0, false
	}
	since = max(changed, p.start(history.ProcessOf(by))-1, 0)
	for _, state := range slices.Backward(states) {
		if p.byOperator(p.entries[state.at]) == nil {
			return max(since, state.at), true
		}
	}
	return since, true
}

// failedSince reports whether something has held up the operator since an entry, or a request has failed that the
// operator may repeat only later. It also returns true if the entry happened just now.
func (p *past) failedSince(since int) bool {
	at := p.entries[since].Time
	if p.entries[len(p.entries)-1].Time.Sub(at) < quiet {
		return true
	}
	if slices.ContainsFunc(p.delays, func(d *history.Delay) bool { return d.Ended.After(at) }) {
		return true
	}
	return slices.ContainsFunc(p.entries[since:], func(e history.Entry) bool {
		q := e.Request
		return q != nil && q.User.Username == p.operator && q.Response.Code >= http.StatusBadRequest &&
			q.Response.Code != http.StatusNotFound
	})
}
