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

// Inputs are what the Pods are made of beside the spec. They come with the operator. An input that the spec says
// itself is of no account, and left out.
type Inputs struct {
	// Revision is that of the way from a spec to a Pod template, through this package and render. A change there that
	// makes another template of the same spec, or a new input, is a new revision; the old one stays for those who have
	// it.
	Revision int `json:"revision"`

	// Image is the memcached image.
	Image string `json:"image,omitempty"`

	// Agent is the image of the agent. Where a cache has none, it is left out.
	Agent string `json:"agent,omitempty"`

	// Architectures are the kubernetes.io/arch values that memcached Pods may run on; none means any.
	Architectures []string `json:"architectures,omitempty"`

	// Platform decides what user memcached runs as.
	Platform Platform `json:"platform"`
}

// Defaults are what the operator would make Pods of.
type Defaults struct {
	// Revisions are those of the template that render knows, the newest last.
	Revisions []int

	// Image is that of a spec that names none.
	Image string

	// AgentImage is the image of the agent.
	AgentImage string

	// Architectures are those of a spec that names none.
	Architectures []string

	// Platform is what the operator runs on; empty while that can't be found out, for the reason in Unknown.
	Platform Platform
	Unknown  error

	// AwaitTurn keeps a cache with updatePolicy Automatic as it is: other caches are updated first.
	AwaitTurn bool
}

// inputs are the defaults that a spec leaves open.
func (d Defaults) inputs(spec cachev1.MemcachedSpec) Inputs {
	inputs := Inputs{Revision: d.Revisions[len(d.Revisions)-1], Platform: d.Platform}
	if spec.Image == "" {
		inputs.Image = d.Image
	}
	if needsAgent(spec) {
		inputs.Agent = d.AgentImage
	}
	if len(spec.Architectures) == 0 {
		inputs.Architectures = d.Architectures
	}
	return inputs
}

// choose decides what the Pods are made of: of the same as before, until the user lets something newer in. Nodes that
// are replaced lose what they hold, and an upgrade of the operator is no reason for that. It also returns what waits.
func choose(mc *cachev1.Memcached, live *appsv1.Deployment, defaults Defaults) (Record, []string, error) {
	now := Record{
		Inputs: defaults.inputs(mc.Spec), Spec: specHash(mc.Spec),
		Requested: mc.Annotations[cachev1.AnnotationUpdateRequested],
	}
	before, known := recordOf(mc.Spec, live, now)
	if !known {
		return now, nil, platformProblem(defaults)
	}
	now.Platform = cmp.Or(now.Platform, before.Platform)
	now.Requested = cmp.Or(now.Requested, before.Requested)
	if sameSet(now.Architectures, before.Architectures) {
		now.Architectures = before.Architectures // Another order is no other choice, but would be another template.
	}
	if letsIn(mc.Spec, before, now, defaults) || !slices.Contains(defaults.Revisions, before.Revision) {
		return now, nil, nil // What a newer operator makes, an older one it was put back to does not know.
	}
	return before, waiting(before.Inputs, now.Inputs), nil
}

func letsIn(spec cachev1.MemcachedSpec, before, now Record, defaults Defaults) bool {
	automatic := spec.UpdatePolicy == cachev1.UpdateAutomatic && !defaults.AwaitTurn
	return automatic || before.Spec != now.Spec || before.Requested != now.Requested
}

// platformProblem keeps Pods from being made the wrong way where nothing tells the right one.
func platformProblem(defaults Defaults) error {
	if defaults.Platform != "" {
		return nil
	}
	return fmt.Errorf("find out whether this is OpenShift, which decides what user memcached runs as: %w",
		cmp.Or(defaults.Unknown, errors.New("it was not looked for")))
}

// waiting says in words what differs.
func waiting(before, now Inputs) []string {
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
