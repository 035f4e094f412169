package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// Platform is a kind of cluster.
type Platform string

const (
	// Kubernetes runs Pods as the user that they name.
	Kubernetes Platform = "Kubernetes"

	// OpenShift assigns each namespace users of its own, and refuses others.
	OpenShift Platform = "OpenShift"
)

// Inputs are what the Pods are made of beside the spec. They come with the operator. All of them are recorded, also
// those that the spec names itself at the time: a spec that spells out what runs changes nothing, nor does one that
// leaves it to the operator again.
type Inputs struct {
	// Revision is that of the way from a spec to a Pod template, through this package and render. A change there that
	// makes another template of the same spec, or a new input, is a new revision; the old one stays for those who have
	// it.
	Revision int `json:"revision"`

	// Image is the memcached image of a spec that names none.
	Image string `json:"image,omitempty"`

	// Agent is the image of the agent.
	Agent string `json:"agent,omitempty"`

	// Architectures are the kubernetes.io/arch values of a spec that names none; none means any.
	Architectures []string `json:"architectures,omitempty"`

	// Platform decides what user memcached runs as.
	Platform Platform `json:"platform"`
}

// Defaults are what the operator would make Pods of.
type Defaults struct {
	// Revisions are those of the template that render knows, the newest last.
	Revisions []int

	// Hash returns the hash of the Pod template that render makes of a plan. It is the same for templates that differ
	// only in the order of sets or in the spelling of quantities.
	Hash func(Plan) string

	// Image is that of a spec that names none.
	Image string

	// AgentImage is the image of the agent.
	AgentImage string

	// Architectures are those of a spec that names none.
	Architectures []string

	// Platform is what the operator runs on; empty while that can't be found out, for the reason in Unknown.
	Platform Platform
	Unknown  error

	// Queued keeps a cache with updatePolicy Automatic as it is: other caches are updated first.
	Queued bool
}

func (d Defaults) inputs() Inputs {
	return Inputs{
		Revision: d.Revisions[len(d.Revisions)-1], Image: d.Image, Agent: d.AgentImage,
		Architectures: d.Architectures, Platform: d.Platform,
	}
}

// Current is what exists of a cache.
type Current struct {
	// Deployment is the one with the Memcached's name; nil if there is none. It has its managed fields unless IsRecorded.
	Deployment *appsv1.Deployment

	// SecretsUsable tells whether new Pods can start with what the Secrets hold that the spec names.
	SecretsUsable bool

	// OpenPorts are the ports of any Pod, terminating ones among them, and of those that the Deployment makes.
	OpenPorts names.Ports

	// ServicePorts are those of the Service that exists.
	ServicePorts names.Ports

	// Pods are the ports of each Pod that is not terminating.
	Pods []names.Ports
}

// choose decides what the Pods are made of: of the same as before, until the spec replaces them anyway or the user asks
// for what is newer. Pods that are replaced lose their items, and an upgrade of the operator is no reason for that.
func choose(mc *cachev1.Memcached, current Current, defaults Defaults, before *Record, now Record) (Plan, error) {
	switch {
	case before == nil:
		if err := platformProblem(defaults); err != nil {
			return Plan{}, err
		}
		return compute(mc, current, defaults, now)
	case updates(mc.Spec, *before, now, defaults), !slices.Contains(defaults.Revisions, before.Revision):
		return compute(mc, current, defaults, now) // An older operator does not know what a newer one makes.
	}
	p, err := compute(mc, current, defaults, *before)
	if err == nil && before.Template != "" && p.Record.Template != before.Template {
		return compute(mc, current, defaults, now)
	}
	return p, err
}

// records returns what the Pods were made of so far, nil if that is not known, and what the operator would make them
// of.
func records(mc *cachev1.Memcached, live *appsv1.Deployment, defaults Defaults) (before *Record, now Record) {
	now = Record{Inputs: defaults.inputs(), Requested: mc.Annotations[cachev1.AnnotationUpdateRequested]}
	found, ok := recorded(mc, live, now)
	if !ok {
		return nil, now
	}
	found, now = completed(found, now)
	return &found, now
}

// completed fills in what one of two records lacks and the other one has.
func completed(before, now Record) (Record, Record) {
	before.Image = cmp.Or(before.Image, now.Image)
	before.Agent = cmp.Or(before.Agent, now.Agent)
	now.Platform = cmp.Or(now.Platform, before.Platform)
	now.Requested = cmp.Or(now.Requested, before.Requested)
	if sameSet(now.Architectures, before.Architectures) {
		now.Architectures = before.Architectures // Another order is no other choice.
	}
	return before, now
}

// updates tells whether the user wants what is newer, whatever the spec makes of it.
func updates(spec cachev1.MemcachedSpec, before, now Record, defaults Defaults) bool {
	automatic := spec.UpdatePolicy == cachev1.UpdateAutomatic && !defaults.Queued
	return automatic || before.Requested != now.Requested
}

// leftOpen are the inputs that a spec does not name itself.
func leftOpen(spec cachev1.MemcachedSpec, inputs Inputs) Inputs {
	if spec.Image != "" {
		inputs.Image = ""
	}
	if !needsAgent(spec) {
		inputs.Agent = ""
	}
	if len(spec.Architectures) > 0 {
		inputs.Architectures = nil
	}
	return inputs
}

// platformProblem keeps Pods from being made the wrong way where nothing tells the right one.
func platformProblem(defaults Defaults) error {
	if defaults.Platform != "" {
		return nil
	}
	return fmt.Errorf("find out whether this is OpenShift, which decides what user memcached runs as: %w",
		cmp.Or(defaults.Unknown, errors.New("discovery has not run")))
}

// waiting says in words what differs.
func pending(before, now Inputs) []string {
	var differences []string
	tell := func(input, before, now string) {
		if before != now {
			differences = append(differences, fmt.Sprintf("%s %s -> %s", input, before, now))
		}
	}
	tell("image", before.Image, now.Image)
	tell("agent image", before.Agent, now.Agent)
	tell("architectures", listed(before.Architectures), listed(now.Architectures))
	tell("platform", string(before.Platform), string(now.Platform))
	tell("template revision", fmt.Sprint(before.Revision), fmt.Sprint(now.Revision))
	return differences
}

func listed(architectures []string) string {
	return cmp.Or(strings.Join(architectures, ", "), "any")
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// userID is the user that memcached runs as; nil leaves it to the cluster. Elsewhere it must be given: the official
// image names its user, and the kubelet can check only numbers against runAsNonRoot.
func (p Platform) userID() *int64 {
	if p == OpenShift {
		return nil
	}
	return new(names.UserID)
}
