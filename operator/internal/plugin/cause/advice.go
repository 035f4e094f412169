package cause

// The next command to run, for each reason of a condition.

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/certmanager"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/overview"
)

// Advice is a command, and what it is for.
type Advice struct {
	Command string `json:"command"`
	For     string `json:"for"`
}

// next returns the next commands to run, for the reasons of a cache's conditions. A command that several reasons have
// in common is returned once, for the first of these reasons.
func next(e Evidence, reasons []overview.Waiting) []Advice {
	c := commands{Evidence: e, namespaced: "kubectl -n " + e.Memcached.Namespace}
	var found []Advice
	for _, reason := range reasons {
		for _, advice := range c.after(reason) {
			isKnown := func(other Advice) bool { return other.Command == advice.Command }
			if !slices.ContainsFunc(found, isKnown) {
				found = append(found, advice)
			}
		}
	}
	return found
}

// commands writes commands for a cache.
type commands struct {
	Evidence

	namespaced string // the beginning of a command of kubectl
}

// after returns what to do about a reason. Reasons of the API that have no case here need no action.
func (c commands) after(asked overview.Waiting) []Advice {
	switch asked.Reason {
	case "":
		return c.checkOperator()
	case cachev1.ReasonRollingOut, cachev1.ReasonHandingOver, cachev1.ReasonResizing, cachev1.ReasonUpdateInProgress:
		return c.wait()
	case cachev1.ReasonPodsNotReady, cachev1.ReasonProgressDeadlineExceeded:
		return c.inspect()
	case cachev1.ReasonInvalidSpec:
		return c.edit("correct the field that the message names")
	case cachev1.ReasonSecretNotFound:
		return c.missingSecrets(asked.Message)
	case cachev1.ReasonInvalidSecret, cachev1.ReasonCertificateExpired:
		return c.secrets()
	case cachev1.ReasonCertificateUnavailable:
		seen := Advice{"kubectl api-resources --api-group=" + certmanager.Group, "see whether the cluster has cert-manager"}
		return append([]Advice{seen}, c.edit("remove spec.tls.issuerRef, to make the Secret yourself")...)
	case cachev1.ReasonNamesMissing:
		return c.certificate()
	case cachev1.ReasonOwnershipConflict, cachev1.ReasonFieldManagerConflict:
		return c.object(asked.Message)
	case cachev1.ReasonKeysMoving, cachev1.ReasonBootstrapCutOver:
		return c.edit("remove spec.bootstrap once all clients use the cache")
	case cachev1.ReasonApplyFailed:
		return append(c.one("get resourcequota,limitrange", "see what may refuse the objects of the cache"),
			c.checkOperator()...)
	case cachev1.ReasonSuspended:
		return []Advice{{c.own("resume"), "let the operator apply the spec again"}}
	case cachev1.ReasonDefaultsDiffer, cachev1.ReasonUpdateQueued:
		return []Advice{{c.own("update"), "apply the pending update, which replaces the Pods"}}
	case cachev1.ReasonClientCARemoved, cachev1.ReasonUserRemoved:
		return []Advice{{c.own("restart"), "replace the Pods, so that no Pod accepts the removed entries any more"}}
	case cachev1.ReasonBootstrapFollowing:
		return []Advice{{c.own("cutover"), "let clients use the cache, too"}}
	case cachev1.ReasonBootstrapWaiting, cachev1.ReasonBootstrapCopying,
		cachev1.ReasonBootstrapCuttingOver, cachev1.ReasonBootstrapResuming, cachev1.ReasonBootstrapFailed:
		return c.bootstrap(asked.Reason)
	case cachev1.ReasonBootstrapRestoring, cachev1.ReasonRestoreFailed:
		return c.one("logs job/"+names.Restore(c.Memcached.Name), "see how far the restore is, or why it failed")
	}
	return c.afterDeviation(asked.Reason)
}

// afterDeviation returns what to do about a reason of the condition AsUsual.
func (c commands) afterDeviation(reason string) []Advice {
	switch reason {
	case cachev1.ReasonHitRatioFell, cachev1.ReasonEvictedSooner, cachev1.ReasonConnectionsRose,
		cachev1.ReasonConnectionsFell:
		return []Advice{{c.own("top"), "see the load of each server, its memory, hits and evictions"}}
	case cachev1.ReasonLatencyRose:
		pods := names.LabelInstance + "=" + c.Memcached.Name
		return c.one("top pods --containers -l "+pods, "see how much processor the Pods use")
	case cachev1.ReasonNotReported:
		return c.checkOperator()
	}
	return nil
}

// own returns a command of this plugin.
func (c commands) own(command string) string {
	return fmt.Sprintf("kubectl memcached %s %s -n %s", command, c.Memcached.Name, c.Memcached.Namespace)
}

// one returns a command of kubectl in the namespace of the cache.
func (c commands) one(command, reason string) []Advice {
	return []Advice{{c.namespaced + " " + command, reason}}
}

func (c commands) edit(reason string) []Advice {
	return c.one("edit memcached "+c.Memcached.Name, reason)
}

func (c commands) wait() []Advice {
	if c.Memcached.Spec.Suspend {
		return []Advice{{c.own("resume"), "continue the rollout, which spec.suspend pauses"}}
	}
	if c.Deployment != nil && c.Deployment.Spec.Paused {
		return c.one("rollout resume deployment "+c.Deployment.Name, "continue the rollout, which another client paused")
	}
	return c.one("wait --for=condition=Ready --timeout=10m memcached/"+c.Memcached.Name, "wait until all Pods are ready")
}

// missingSecrets returns commands that create the Secrets which a message names as missing, because no command can show
// them.
func (c commands) missingSecrets(message string) []Advice {
	var advice []Advice
	isMissing := func(name string) bool { return strings.Contains(message, fmt.Sprintf("%q does not exist", name)) }
	tls, auth := c.Memcached.Spec.TLS, c.Memcached.Spec.Auth
	switch name := c.Memcached.TLSSecretName(); {
	case name == "" || !isMissing(name):
	case tls.IssuerRef != nil:
		advice = c.certificate()
	default:
		advice = c.one("create secret tls "+name+" --cert=FILE --key=FILE", "make the Secret of spec.tls")
	}
	if auth != nil && isMissing(auth.SecretName) {
		advice = append(advice, c.one("create secret generic "+auth.SecretName+" --from-file=users=FILE",
			"make the Secret of spec.auth, with a line user:password each")...)
	}
	return advice
}

// named finds the first object that a message names, such as PodDisruptionBudget "shop".
var named = regexp.MustCompile(`([A-Z][A-Za-z]+)[ /]"?([a-z0-9][-a-z0-9.]*)"?`)

// object returns a command that shows the object which a message names. For a Secret, it does not show the content.
func (c commands) object(message string) []Advice {
	const reason = "see who owns and who writes the object that the message names"
	found := named.FindStringSubmatch(message)
	switch {
	case found == nil:
		return c.one("get deployment,service,networkpolicy,poddisruptionbudget "+c.Memcached.Name+
			" --ignore-not-found -o yaml --show-managed-fields", reason)
	case found[1] == "Secret":
		return c.one("describe secret "+found[2], reason)
	}
	return c.one(fmt.Sprintf("get %s %s -o yaml --show-managed-fields", strings.ToLower(found[1]), found[2]), reason)
}

// secrets returns commands that show the Secrets which the spec names, without their content.
func (c commands) secrets() []Advice {
	var advice []Advice
	if name := c.Memcached.TLSSecretName(); name != "" {
		advice = append(advice, c.one("describe secret "+name, "see what the Secret of spec.tls has")...)
	}
	if auth := c.Memcached.Spec.Auth; auth != nil {
		advice = append(advice, c.one("describe secret "+auth.SecretName, "see what the Secret of spec.auth has")...)
	}
	return advice
}

// certificate returns a command that shows the certificate: the Certificate of cert-manager, if cert-manager issues it.
func (c commands) certificate() []Advice {
	if tls := c.Memcached.Spec.TLS; tls != nil && tls.IssuerRef != nil {
		return c.one("describe certificate "+c.Memcached.Name, "see whether cert-manager issues the certificate")
	}
	return c.secrets()
}

// bootstrap returns a command that shows the Pod which copies the keys of other servers: its log, if it has one.
func (c commands) bootstrap(reason string) []Advice {
	pod, source, found := BootstrapSuspect(c.Observed)
	switch {
	case found && source.Container == "":
		return c.one("describe pod "+pod.Name, "see why the Pod that copies the keys does not start")
	case !found && reason == cachev1.ReasonBootstrapWaiting:
		return []Advice{{c.own("status"), "see which slot has no Pod"}}
	}
	return c.one("logs deployment/"+names.Bootstrap(c.Memcached.Name), "see how far the copy is, or why it failed")
}

func (c commands) checkOperator() []Advice {
	return []Advice{{
		"kubectl get pods -A -l app.kubernetes.io/name=memcached-operator", "see whether the operator runs",
	}}
}
