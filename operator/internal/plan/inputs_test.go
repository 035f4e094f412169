package plan

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// hashed stands for the hash of the Pod template that render makes.
func hashed(p Pod) string {
	return shortHash(mustEncode([]any{
		p.Revision, p.Image, p.Agent, p.PullSecrets, p.Memcached, p.Resources, p.UserID, p.TLSSecret, p.AuthSecret,
		slices.Sorted(slices.Values(p.Architectures)), p.PreferredArchitectures, p.Placement, p.PodTemplate,
	}))
}

// decided plans a cache as desired.State does.
func decided(mc *cachev1.Memcached, current Current, defaults Defaults) (Outcome, error) {
	draft, err := Resolve(mc, current, defaults)
	if err != nil {
		return nil, err
	}
	automatic := draft.IsPending() && mc.Spec.UpdatePolicy == cachev1.UpdateAutomatic
	if automatic || draft.ReplacesPods(hashed(draft.Pod)) {
		draft = draft.Updated()
	}
	return draft.Outcome(hashed(draft.Pod)), nil
}

// refused is the error of an invalid spec.
type refused struct{ Invalid }

func (r refused) Error() string { return r.Message() }

// computed returns the plan of a cache.
func computed(mc *cachev1.Memcached, current Current, defaults Defaults) (Plan, error) {
	outcome, err := decided(mc, current, defaults)
	if invalid, ok := outcome.(Invalid); ok {
		return Plan{}, refused{invalid}
	}
	p, _ := Of(outcome)
	return p, err
}

// nothing is the observed state of a new cache.
var nothing = Current{SecretsUsable: true}

// currently is the observed state of a cache with a Deployment.
func currently(deployment *appsv1.Deployment) Current {
	return Current{Deployment: deployment, SecretsUsable: true}
}

// newer are the defaults of an operator that differs in all inputs from which Pods are made.
var newer = Defaults{
	Revisions: []int{1, 2}, Image: "registry.example.com/memcached:2", AgentImage: "registry.example.com/agent:2",
	Architectures: []string{"amd64", "s390x"}, Platform: OpenShift,
}

// deployedBy returns the Deployment of a Memcached as an operator with the given defaults made it, and the status that
// this operator left.
func deployedBy(t *testing.T, mc *cachev1.Memcached, defaults Defaults) *appsv1.Deployment {
	t.Helper()
	p, err := computed(mc, nothing, defaults)
	if err != nil {
		t.Fatal(err)
	}
	live := &appsv1.Deployment{}
	live.Annotations = map[string]string{names.AnnotationTemplateInputs: p.Record.Encode()}
	mc.Status.TemplateInputs = p.Record.Encode()
	return live
}

var everythingWaits = []string{
	"image registry.example.com/memcached:1 -> registry.example.com/memcached:2",
	"agent image registry.example.com/agent:1 -> registry.example.com/agent:2",
	"architectures arm64 -> amd64, s390x",
	"platform Kubernetes -> OpenShift",
	"template revision 1 -> 2",
}

func TestTheInputsStayUntilTheUpdateIsRequested(t *testing.T) {
	old := Inputs{Revision: 1, Image: defaults.Image, Agent: defaults.AgentImage, Architectures: defaults.Architectures, Platform: Kubernetes}
	now := Inputs{Revision: 2, Image: newer.Image, Agent: newer.AgentImage, Architectures: newer.Architectures, Platform: OpenShift}
	request := func(value string) func(*cachev1.Memcached) {
		return func(mc *cachev1.Memcached) {
			mc.Annotations = map[string]string{cachev1.AnnotationUpdateRequested: value}
		}
	}
	tests := map[string]struct {
		before, change func(*cachev1.Memcached)
		operator       func(*Defaults)
		want           Inputs
		waits          []string
	}{
		"nothing changed but the operator": {want: old, waits: everythingWaits},
		"fields changed that replace no Pod": {
			change: func(mc *cachev1.Memcached) {
				mc.Spec.Size, mc.Spec.Suspend, mc.Spec.UpdatePolicy = new(int32(5)), true, cachev1.UpdateOnSpecChange
				mc.Spec.Rollout = &cachev1.Rollout{MinReadySeconds: new(int32(9))}
				mc.Spec.Disruption = &cachev1.Disruption{MaxUnavailable: new(intstr.FromInt32(2))}
				mc.Spec.Service = &cachev1.Service{Metadata: &cachev1.Metadata{Labels: map[string]string{"a": "b"}}}
			},
			want: old, waits: everythingWaits,
		},
		"a quantity in another spelling": {
			before: func(mc *cachev1.Memcached) { mc.Spec.Memory = new(resource.MustParse("1Gi")) },
			change: func(mc *cachev1.Memcached) { mc.Spec.Memory = new(resource.MustParse("1024Mi")) },
			want:   old, waits: everythingWaits,
		},
		"the spec spells out what runs": {
			change: func(mc *cachev1.Memcached) {
				mc.Spec.Image, mc.Spec.Threads = defaults.Image, new(int32(4))
				mc.Spec.PodTemplate, mc.Spec.Placement = &cachev1.PodTemplate{}, &cachev1.Placement{}
				mc.Spec.Metrics = &cachev1.Metrics{Mode: cachev1.MetricsEnabled}
			},
			want: old, waits: everythingWaits[1:],
		},
		"a field changed that replaces the Pods": {
			change: func(mc *cachev1.Memcached) { mc.Spec.Threads = new(int32(5)) },
			want:   now,
		},
		"an update is requested":             {change: request("now"), want: now},
		"another update is requested":        {before: request("then"), change: request("now"), want: now},
		"an update was requested before":     {before: request("then"), want: old, waits: everythingWaits},
		"a request was taken back":           {before: request("then"), change: request(""), want: old, waits: everythingWaits},
		"updates are automatic":              {change: func(mc *cachev1.Memcached) { mc.Spec.UpdatePolicy = cachev1.UpdateAutomatic }, want: now},
		"the operator has the same defaults": {operator: func(d *Defaults) { *d = defaults }, want: old},
		"the spec names the image": {
			before: func(mc *cachev1.Memcached) { mc.Spec.Image = "mine" },
			want:   old, waits: everythingWaits[1:],
		},
		"the spec names the architectures": {
			before: func(mc *cachev1.Memcached) {
				mc.Spec.Placement = &cachev1.Placement{Architectures: []cachev1.Architecture{"amd64"}}
			},
			operator: func(d *Defaults) { d.Platform, d.Revisions = Kubernetes, []int{1} },
			want:     old, waits: everythingWaits[:2],
		},
		"without an agent": {
			before: func(mc *cachev1.Memcached) { mc.Spec.Metrics = &cachev1.Metrics{Mode: cachev1.MetricsDisabled} },
			want:   old,
			waits:  append(everythingWaits[:1:1], everythingWaits[2:]...),
		},
		"the spec names the image no longer": {
			before: func(mc *cachev1.Memcached) { mc.Spec.Image = "mine" },
			change: func(mc *cachev1.Memcached) { mc.Spec.Image = "" },
			want:   now,
		},
		"the operator allows any architecture": {
			operator: func(d *Defaults) { *d = defaults; d.Architectures = nil },
			want:     old, waits: []string{"architectures arm64 -> any"},
		},
		"the platform can't be found out": {
			operator: func(d *Defaults) { d.Platform = "" },
			want:     old, waits: append(everythingWaits[:3:3], everythingWaits[4]),
		},
		"the platform can't be found out while the spec changes": {
			change:   func(mc *cachev1.Memcached) { mc.Spec.Threads = new(int32(5)) },
			operator: func(d *Defaults) { d.Platform = "" },
			want:     Inputs{Revision: 2, Image: now.Image, Agent: now.Agent, Architectures: now.Architectures, Platform: Kubernetes},
		},
		"the operator is older than the template": {
			operator: func(d *Defaults) { d.Revisions = []int{3} },
			want:     Inputs{Revision: 3, Image: now.Image, Agent: now.Agent, Architectures: now.Architectures, Platform: OpenShift},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			mc := memcachedWith(cachev1.MemcachedSpec{})
			change(mc, tc.before)
			live := deployedBy(t, mc, defaults)
			change(mc, tc.change)
			operator := newer
			change(&operator, tc.operator)
			p, err := computed(mc, currently(live), operator)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, p.Record.Inputs); diff != "" {
				t.Errorf("inputs (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.waits, p.Pending); diff != "" {
				t.Errorf("what waits (-want +got):\n%s", diff)
			}
		})
	}
}

func change[T any](object *T, change func(*T)) {
	if change != nil {
		change(object)
	}
}

func TestAnotherOrderOfArchitecturesIsNoOther(t *testing.T) {
	older, other := defaults, defaults
	older.Architectures, other.Architectures = []string{"amd64", "arm64"}, []string{"arm64", "amd64"}
	mc := memcachedWith(cachev1.MemcachedSpec{UpdatePolicy: cachev1.UpdateAutomatic})
	p, err := computed(mc, currently(deployedBy(t, mc, older)), other)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(older.Architectures, p.Architectures); diff != "" || len(p.Pending) > 0 {
		t.Errorf("%v waits; architectures (-want +got):\n%s", p.Pending, diff)
	}
}

func TestANewCacheWaitsUntilThePlatformIsKnown(t *testing.T) {
	unknown := defaults
	unknown.Platform, unknown.Unknown = "", errors.New("no answer")
	_, err := computed(memcachedWith(cachev1.MemcachedSpec{}), nothing, unknown)
	if err == nil || !strings.Contains(err.Error(), "find out whether this is OpenShift") || !errors.Is(err, unknown.Unknown) {
		t.Errorf("got %v, want an error that says what is waited for, and why", err)
	}
}

// TestARequestIsHonouredOnce, even when the request changes nothing: the same request must not apply later updates,
// too.
func TestARequestIsHonouredOnce(t *testing.T) {
	mc := memcachedWith(cachev1.MemcachedSpec{})
	live := deployedBy(t, mc, defaults)
	mc.Annotations = map[string]string{cachev1.AnnotationUpdateRequested: "monday"}
	for _, operator := range []Defaults{defaults, newer} {
		p, err := computed(mc, currently(live), operator)
		if err != nil {
			t.Fatal(err)
		}
		if p.Image != defaults.Image || p.Record.Requested != "monday" {
			t.Errorf("image %s, honoured %q", p.Image, p.Record.Requested)
		}
		live.Annotations[names.AnnotationTemplateInputs] = p.Record.Encode()
		mc.Status.TemplateInputs = p.Record.Encode()
	}
}

// TestALongRequestIsRecordedByItsHash: the record has to fit into an annotation.
func TestALongRequestIsRecordedByItsHash(t *testing.T) {
	recorded := func(value string) string {
		mc := memcachedWith(cachev1.MemcachedSpec{})
		mc.Annotations = map[string]string{cachev1.AnnotationUpdateRequested: value}
		return requested(mc)
	}
	long := strings.Repeat("x", 260_000)
	if got := recorded(long); len(got) > longestRequest || got != recorded(long) || got == recorded(long+"y") {
		t.Errorf("recorded as %q, and with one more letter as %q", got, recorded(long+"y"))
	}
	if got := recorded("2026-11-01T12:00:00Z"); got != "2026-11-01T12:00:00Z" {
		t.Errorf("recorded as %q", got)
	}
}
