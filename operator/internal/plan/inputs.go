package plan

// The inputs from which the Pods are made besides the spec, now and before.

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/discovery"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// Platform is a kind of cluster.
type Platform string

const (
	// Kubernetes runs Pods as the user that they specify.
	Kubernetes Platform = "Kubernetes"

	// OpenShift assigns a range of user IDs to each namespace, and rejects Pods that specify another ID.
	OpenShift Platform = "OpenShift"
)

// Inputs are what the Pods are made from besides the spec. They come with the operator. All of them are recorded,
// including inputs that the spec sets itself at that time. So nothing changes if the spec begins to set the values that
// the Pods already have, or omits them again. The fields are in the order of their names in JSON, because Record.Encode
// computes a checksum of the JSON.
type Inputs struct {
	// Agent is the image of the agent.
	Agent string `json:"agent,omitempty"`

	// Architectures are the kubernetes.io/arch values for a spec without them; none means any.
	Architectures []string `json:"architectures,omitempty"`

	// Image is the memcached image for a spec without one.
	Image string `json:"image,omitempty"`

	// Memory is the memory for items that memcached starts with, in bytes, if rollout.memoryChange is Resize; 0 means the
	// memory of the spec. The memory in the spec may have changed since then. Pods with slots already have the changed
	// memory, and other Pods get it when they are replaced.
	Memory int64 `json:"memory,omitempty"`

	// Platform determines the user that memcached runs as.
	Platform Platform `json:"platform"`

	// Revision is the revision of the code that renders a Pod template from a spec: this package and render. A change to
	// this code that renders another template from the same spec, or adds an input, is a new revision. Old revisions stay
	// for the caches that have them.
	Revision int `json:"revision"`

	// Slots: a Pod becomes ready only with a slot. The spec requests this, but the change is applied like an update,
	// because it would replace the Pods.
	Slots bool `json:"slots,omitempty"`
}

// Defaults are the operator's current values for new Pods.
type Defaults struct {
	// Revisions are the template revisions that render knows, the newest last.
	Revisions []int

	// Image is the image for a spec without one.
	Image string

	// AgentImage is the image of the agent.
	AgentImage string

	// SnapshotImage is the image that saves caches.
	SnapshotImage string

	// Architectures are the values for a spec without them.
	Architectures []string

	// Platform is what the operator runs on; empty while it is unknown, for the reason in Unknown.
	Platform Platform
	Unknown  error

	// MissingRights are rights that slots need and the operator does not have.
	MissingRights []string

	// MissingDiscoveryRights are rights that discovery needs and the operator does not have.
	MissingDiscoveryRights []string

	// NoCertificates is why the operator can't request certificates from cert-manager; empty if it can.
	NoCertificates string

	// MissingBindingRights are rights that the binding needs and the operator does not have.
	MissingBindingRights []string

	// Namespace is the namespace of the operator; empty if the operator runs outside of the cluster.
	Namespace string

	// Now is the current time.
	Now time.Time
}

func (d Defaults) inputs() Inputs {
	return Inputs{
		Revision: d.Revisions[len(d.Revisions)-1], Image: d.Image, Agent: d.AgentImage,
		Architectures: d.Architectures, Platform: d.Platform,
	}
}

// Current is the observed state on which a plan depends.
type Current struct {
	// Deployment is the Deployment with the Memcached's name; nil if there is none. It includes its managed fields, unless
	// IsRecorded returns true for it.
	Deployment *appsv1.Deployment

	// SecretsUsable reports whether new Pods can start with the Secrets that the spec names.
	SecretsUsable bool

	// Bound is the data that a binding copies from these Secrets; zero without a binding.
	Bound Bound

	// OpenPorts are the ports of all Pods, including terminating Pods, and of the Pods that the Deployment creates
	// next.
	OpenPorts names.Ports

	// ServicePorts are the ports of the existing Service.
	ServicePorts names.Ports

	// Pods has the ports of each Pod that is not terminating.
	Pods []names.Ports

	// Slots is the observed state of the slots, and SlotAddresses are the cluster IPs of their Services, by slot.
	Slots         CurrentSlots
	SlotAddresses map[string]string

	// Discovery has the Pods, each with its answer to clients with auto discovery.
	Discovery []discovery.Pod

	// Bootstrap is the observed state of the copy of keys from other servers; zero without a bootstrap.
	Bootstrap CurrentBootstrap

	// Usage is what Pods reported about how they are used.
	Usage Usage

	// UnownedSecret: the Secret of the certificate exists, and cert-manager did not write it for this cache.
	UnownedSecret bool
}

// records returns the inputs that the Pods were made from (nil if those are unknown), and the operator's current
// inputs.
func records(mc *cachev1.Memcached, live *appsv1.Deployment, defaults Defaults) (before *Record, now Record) {
	now = Record{Inputs: defaults.inputs(), Requested: requested(mc)}
	now.Slots = mc.Spec.Slots != nil
	if keepsPods(mc.Spec) {
		now.Memory = ItemMemory(mc.Spec)
	}
	found, ok := recorded(mc, live, now)
	if !ok {
		return nil, now
	}
	found, now = completed(found, now)
	found.Memory = startMemory(found, now, live)
	return &found, now
}

// startMemory returns the memory that memcached starts with in Pods that are made from a record. 0 means the memory of
// the spec, even for Pods that lose their slots and so can't be resized any more. If the record has no memory, because
// a change to the memory has replaced the Pods so far, the memory is read from the Deployment.
func startMemory(before, now Record, live *appsv1.Deployment) int64 {
	if now.Memory == 0 || before.Slots && !now.Slots {
		return 0
	}
	return cmp.Or(before.Memory, deployedMemory(live), now.Memory)
}

// completed fills in, in each of the two records, the values that only the other one has.
func completed(before, now Record) (Record, Record) {
	before.Image = cmp.Or(before.Image, now.Image)
	before.Agent = cmp.Or(before.Agent, now.Agent)
	now.Platform = cmp.Or(now.Platform, before.Platform)
	now.Requested = cmp.Or(now.Requested, before.Requested)
	if sameSet(now.Architectures, before.Architectures) {
		now.Architectures = before.Architectures // Only the order differs, which does not matter.
	}
	return before, now
}

// leftOpen returns the inputs without those that the spec sets itself, or makes unnecessary.
func leftOpen(spec cachev1.MemcachedSpec, inputs Inputs) Inputs {
	if spec.Image != "" {
		inputs.Image = ""
	}
	if !needsAgent(spec) && !inputs.Slots {
		inputs.Agent = ""
	}
	if len(orZero(spec.Placement).Architectures) > 0 {
		inputs.Architectures = nil
	}
	return inputs
}

// platformProblem returns an error while the platform is unknown, so that no Pods are created.
func platformProblem(defaults Defaults) error {
	if defaults.Platform != "" {
		return nil
	}
	return fmt.Errorf("find out whether this is OpenShift, which decides what user memcached runs as: %w",
		cmp.Or(defaults.Unknown, errors.New("discovery has not run")))
}

// pending describes the differences between the inputs that the Pods were made from and the operator's current inputs.
func pending(before, now Inputs) []string {
	var differences []string
	report := func(input, before, now string) {
		if before != now {
			differences = append(differences, fmt.Sprintf("%s %s -> %s", input, before, now))
		}
	}
	report("image", before.Image, now.Image)
	if before.Agent != "" && now.Agent != "" { // Otherwise the change to slots adds or removes the agent.
		report("agent image", before.Agent, now.Agent)
	}
	report("architectures", listed(before.Architectures), listed(now.Architectures))
	report("platform", string(before.Platform), string(now.Platform))
	report("slots", onOrOff(before.Slots), onOrOff(now.Slots))
	if !before.Slots && before.Memory != 0 { // Pods with slots are resized.
		report("memory", mebibytes(before.Memory), mebibytes(now.Memory))
	}
	report("template revision", fmt.Sprint(before.Revision), fmt.Sprint(now.Revision))
	return differences
}

func onOrOff(slots bool) string {
	if slots {
		return "on"
	}
	return "off"
}

func listed(architectures []string) string {
	return cmp.Or(strings.Join(architectures, ", "), "any")
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// userID returns the ID of the user that memcached runs as; nil leaves the choice to the cluster. On Kubernetes, the ID
// is required: the official image specifies its user by name, and the kubelet can check only numbers against
// runAsNonRoot.
func (p Platform) userID() *int64 {
	if p == OpenShift {
		return nil
	}
	return new(names.UserID)
}
