package plan

// The Pod that copies the keys of other servers into the slots of a new cache.

import (
	"cmp"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// Bootstrap copies the keys of other servers, and copies a key again when it changes there.
type Bootstrap struct {
	// From are the other servers, and FromHash is how clients choose one of them.
	From     []string
	FromHash string

	// FromTLSSecret and FromAuthSecret name Secrets, or are empty.
	FromTLSSecret, FromAuthSecret string

	// To are the slots, as clients name them, and ToHash is how clients choose one of them.
	To     []string
	ToHash string

	// Rate is the limit of the copy in bytes per second.
	Rate int64

	// Kept is the Pod template of the Deployment while clients may use both the other servers and the cache: the template
	// then stays as it is, because a new Pod would not know the keys that clients changed. Otherwise Kept is nil, and the
	// template is rendered.
	Kept *corev1.PodTemplateSpec

	// Waits: the Deployment is not created yet, because a slot has no Pod.
	Waits bool

	// Moved: clients may use both the other servers and the cache. The Deployment records this, and so does the status,
	// in case the Deployment is deleted.
	Moved bool

	// Pod is the observed Pod; nil if there is none.
	Pod *BootstrapPod

	// Phase is the desired phase of the Pod.
	Phase instruction.Phase
}

// CurrentBootstrap is what is observed of the Pod that copies keys.
type CurrentBootstrap struct {
	// Deployment is nil if there is none. Moved is true if the Deployment or the status records that clients may use both
	// the other servers and the cache.
	Deployment *appsv1.Deployment
	Moved      bool

	// Pod is the Pod that does not terminate; nil if there is none.
	Pod *BootstrapPod
}

// BootstrapPod is the Pod that copies keys.
type BootstrapPod struct {
	Name, UID string
	Phase     instruction.Phase

	// Runs: the container runs. Follows: all keys are copied. Ready: clients may use both the other servers and the
	// cache.
	Runs, Follows, Ready bool

	// Failure is how the last attempt ended; zero if it did not fail.
	Failure instruction.Failure

	// Problem is why the Pod does not start, as Kubernetes reports it.
	Problem string
}

// decideBootstrap plans the copy of keys from other servers; nil if the spec requests none.
func (d Draft) decideBootstrap(slots *Slots) *Bootstrap {
	wanted := FromServers(d.memcached)
	if wanted == nil || slots == nil {
		return nil
	}
	current, hash := d.current.Bootstrap, orZero(d.memcached.Spec.Slots).ClientHash
	b := &Bootstrap{
		From: wanted.From.Servers, FromHash: string(cmp.Or(wanted.From.ClientHash, hash)),
		FromTLSSecret: orZero(wanted.From.TLS).SecretName, FromAuthSecret: orZero(wanted.From.Auth).SecretName,
		ToHash: string(hash), Rate: d.copyRate(), Pod: current.Pod,
		Moved: current.Moved || current.Pod != nil && current.Pod.Ready,
	}
	for _, slot := range slots.Slots {
		b.To = append(b.To, slot.Address)
		b.Waits = b.Waits || slot.Pod == "" && current.Deployment == nil
	}
	if b.Moved && current.Deployment != nil {
		b.Kept = &current.Deployment.Spec.Template
	}
	b.Waits = b.Waits || len(b.To) == 0
	b.Phase = b.phase(current.Moved, wanted.Mode)
	return b
}

// phase returns the desired phase of the Pod. It becomes PhaseMoved only after the move is recorded outside of the Pod.
func (b *Bootstrap) phase(recorded bool, mode cachev1.BootstrapMode) instruction.Phase {
	phase := instruction.PhaseFollow
	switch {
	case recorded:
		phase = instruction.PhaseMoved
	case mode == cachev1.BootstrapCutOver:
		phase = instruction.PhaseCutOver
	}
	if b.Pod != nil && phase.IsBefore(b.Pod.Phase) {
		return b.Pod.Phase
	}
	return phase
}

// hasMoved reports whether clients may use both the other servers and the cache. In that time, no change to the spec
// adds, removes or hands over a slot, because changes that clients make in the former Pods could not be copied.
func (d Draft) hasMoved() bool {
	return d.memcached.Spec.Bootstrap != nil && d.current.Bootstrap.Moved
}

// copyRate returns the limit of a copy in bytes per second.
func (d Draft) copyRate() int64 {
	if rate := handoff(d.memcached.Spec).BytesPerSecond; rate != nil {
		return rate.Value()
	}
	return defaultHandoffRate
}

// bootstrapProblems finds the reasons why a cache can't be filled as its spec requests.
func bootstrapProblems(mc *cachev1.Memcached) []string {
	if WantedSnapshot(mc) != nil {
		return restoreProblems(mc)
	}
	wanted := mc.Spec.Bootstrap
	if wanted == nil {
		return nil
	}
	var problems []string
	if orZero(mc.Spec.Slots).ClientHash == "" {
		problems = append(problems, "spec.bootstrap needs spec.slots.clientHash, to copy each key to the slot where clients "+
			"will look for it: set it to the hash of your clients, or remove spec.bootstrap")
	}
	if len(names.BootstrapInstance(mc.Name)) > longestName {
		problems = append(problems, longName("bootstrap", names.BootstrapInstance(mc.Name), mc.Name))
	}
	own := ownHosts(mc)
	for i, server := range wanted.From.Servers {
		host, port, err := net.SplitHostPort(server)
		number, badPort := strconv.ParseUint(port, 10, 16)
		switch {
		case err != nil, badPort != nil, number == 0:
			problems = append(problems, fmt.Sprintf("spec.bootstrap.from.servers[%d] %q is no server: write HOST:PORT, such as "+
				"cache-0.cache.team.svc:11211", i, server))
		case slices.Contains(wanted.From.Servers[:i], server):
			problems = append(problems, fmt.Sprintf("spec.bootstrap.from.servers[%d] %q is listed twice: write each server "+
				"once, in the order in which clients list them", i, server))
		case own.MatchString(withoutDomain(host, mc.Namespace)):
			problems = append(problems, fmt.Sprintf("spec.bootstrap.from.servers[%d] %q is a slot of this cache, "+
				"and the copy would remove its keys: name a server that does not belong to this cache", i, server))
		}
	}
	return problems
}

// ownHosts matches the host names of the cache and of its slots, without the namespace. They can't be sources of a
// copy, because the copy would remove the keys of the cache.
func ownHosts(mc *cachev1.Memcached) *regexp.Regexp {
	cache, slots := regexp.QuoteMeta(mc.Name), regexp.QuoteMeta(names.SlotService(mc.Name))
	return regexp.MustCompile(`^(` + cache + `(-\d+)?(\.` + slots + `)?|` + slots + `)$`)
}

// otherClusters is the DNS domain of Services of other clusters, as the Multi-Cluster Services API (KEP-1645) defines
// it.
const otherClusters = "svc.clusterset.local."

// withoutDomain returns a host name without its namespace and what follows the namespace. It accepts any spelling that
// DNS understands.
func withoutDomain(host, namespace string) string {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if own, domain, ok := strings.Cut(host+".", "."+namespace+"."); ok && domain != otherClusters {
		return own
	}
	return host
}
