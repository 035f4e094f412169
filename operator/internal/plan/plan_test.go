package plan

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/memcached"
)

var defaults = Defaults{
	Revisions: []int{1}, Image: "registry.example.com/memcached:1", AgentImage: "registry.example.com/agent:1",
	Architectures: []string{"arm64"}, Platform: Kubernetes,
}

func memcachedWith(spec cachev1.MemcachedSpec) *cachev1.Memcached {
	return &cachev1.Memcached{
		ObjectMeta: metav1.ObjectMeta{Name: "cache", Namespace: "team", UID: "uid-1"},
		Spec:       spec,
	}
}

func TestCompute(t *testing.T) {
	plain := func() Plan {
		return Plan{
			Name: "cache", Namespace: "team", UID: "uid-1",
			Size: 1, Image: defaults.Image, Architectures: defaults.Architectures, UserID: new(int64(11211)),
			Memcached: memcached.Settings{
				ItemMemory: 64 << 20, Port: 11211, MaxConnections: 1024, Threads: 4, MaxItemSize: 1 << 20,
			},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"cpu": resource.MustParse("50m"), "memory": resource.MustParse("244Mi")},
				Limits:   corev1.ResourceList{"memory": resource.MustParse("244Mi")},
			},
			Agent:         &Agent{Image: defaults.AgentImage, Metrics: true},
			Rollout:       Rollout{MaxSurge: intstr.FromInt32(1), MaxUnavailable: intstr.FromInt32(0)},
			NetworkPolicy: &NetworkPolicy{},
		}
	}
	tests := map[string]struct {
		spec cachev1.MemcachedSpec
		want func(*Plan)
	}{
		"an empty spec gets every default": {
			want: func(*Plan) {},
		},
		"a size of zero is kept, not taken for a missing one": {
			spec: cachev1.MemcachedSpec{Size: new(int32(0))},
			want: func(p *Plan) { p.Size = 0 },
		},
		"an image of the user's own takes the place of the default": {
			spec: cachev1.MemcachedSpec{Image: "localhost:5000/team/memcached:1.6@sha256:" + digest},
			want: func(p *Plan) { p.Image = "localhost:5000/team/memcached:1.6@sha256:" + digest },
		},
		"an image without a tag is an image": {
			spec: cachev1.MemcachedSpec{Image: "memcached"},
			want: func(p *Plan) { p.Image = "memcached" },
		},
		"memory is rounded down to memcached's mebibytes, and the container gets what that needs": {
			spec: cachev1.MemcachedSpec{Memory: new(resource.MustParse("100M"))},
			want: func(p *Plan) { p.Memcached.ItemMemory = 95 << 20; setMemory(p, "281Mi") },
		},
		"connections and threads have their price in memory": {
			spec: cachev1.MemcachedSpec{MaxConnections: new(int32(2048)), Threads: new(int32(5))},
			want: func(p *Plan) { p.Memcached.MaxConnections, p.Memcached.Threads = 2048, 5; setMemory(p, "345Mi") },
		},
		"arguments, item size and pull secrets are passed on": {
			spec: cachev1.MemcachedSpec{
				MaxItemSize: new(resource.MustParse("2Mi")), ExtraArgs: []string{"-f", "1.08"},
				ImagePullSecrets: []cachev1.ImagePullSecret{{Name: "mirror"}},
			},
			want: func(p *Plan) {
				p.Memcached.MaxItemSize, p.Memcached.ExtraArguments = 2<<20, []string{"-f", "1.08"}
				p.PullSecrets = []string{"mirror"}
			},
		},
		"a memory limit of the user's own that is large enough stays, and is requested": {
			spec: cachev1.MemcachedSpec{Resources: &cachev1.Resources{
				Limits: corev1.ResourceList{"memory": resource.MustParse("1Gi")},
			}},
			want: func(p *Plan) { setMemory(p, "1Gi") },
		},
		"a memory request beyond what is needed raises the limit": {
			spec: cachev1.MemcachedSpec{Resources: &cachev1.Resources{
				Requests: corev1.ResourceList{"memory": resource.MustParse("1Gi")},
			}},
			want: func(p *Plan) { setMemory(p, "1Gi") },
		},
		"a small CPU limit lowers the request": {
			spec: cachev1.MemcachedSpec{Resources: &cachev1.Resources{
				Limits: corev1.ResourceList{"cpu": resource.MustParse("20m")},
			}},
			want: func(p *Plan) {
				p.Resources.Limits["cpu"], p.Resources.Requests["cpu"] = resource.MustParse("20m"), resource.MustParse("20m")
			},
		},
		"architectures of the user's own take the place of the operator's": {
			spec: cachev1.MemcachedSpec{Architectures: []cachev1.Architecture{"s390x", "amd64"}},
			want: func(p *Plan) { p.Architectures = []string{"s390x", "amd64"} },
		},
		"a spread constraint without a selector counts this cache": {
			spec: cachev1.MemcachedSpec{Placement: &cachev1.Placement{
				TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
					MaxSkew: 1, TopologyKey: "kubernetes.io/hostname", WhenUnsatisfiable: "ScheduleAnyway",
				}},
			}},
			want: func(p *Plan) {
				p.Placement.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
					MaxSkew: 1, TopologyKey: "kubernetes.io/hostname", WhenUnsatisfiable: "ScheduleAnyway",
					LabelSelector: &metav1.LabelSelector{
						MatchLabels: map[string]string{"app": "memcached", "memcached_cr": "cache"},
					},
				}}
			},
		},
		"two nodes get a disruption budget of one": {
			spec: cachev1.MemcachedSpec{Size: new(int32(2))},
			want: func(p *Plan) { p.Size, p.Disruption = 2, new(intstr.FromInt32(1)) },
		},
		"a disruption budget in percent": {
			spec: cachev1.MemcachedSpec{Size: new(int32(9)), Disruption: &cachev1.Disruption{MaxUnavailable: new(intstr.FromString("25%"))}},
			want: func(p *Plan) { p.Size, p.Disruption = 9, new(intstr.FromString("25%")) },
		},
		"a rollout that takes a node away before it adds one, slowly": {
			spec: cachev1.MemcachedSpec{Rollout: &cachev1.Rollout{
				MaxSurge: new(intstr.FromInt32(0)), MaxUnavailable: new(intstr.FromInt32(1)), MinReadySeconds: new(int32(60)),
			}},
			want: func(p *Plan) {
				p.Rollout = Rollout{MaxSurge: intstr.FromInt32(0), MaxUnavailable: intstr.FromInt32(1), MinReadySeconds: 60}
			},
		},
		"clients that are named": {
			spec: cachev1.MemcachedSpec{NetworkPolicy: &cachev1.NetworkPolicy{From: []networkingv1.NetworkPolicyPeer{{
				PodSelector: &metav1.LabelSelector{},
			}}}},
			want: func(p *Plan) {
				p.NetworkPolicy = &NetworkPolicy{From: []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{}}}}
			},
		},
		"no network policy": {
			spec: cachev1.MemcachedSpec{NetworkPolicy: &cachev1.NetworkPolicy{Mode: cachev1.NetworkPolicyDisabled}},
			want: func(p *Plan) { p.NetworkPolicy = nil },
		},
		"neither metrics nor secrets leave nothing to do for the agent": {
			spec: cachev1.MemcachedSpec{Metrics: &cachev1.Metrics{Mode: cachev1.MetricsDisabled}},
			want: func(p *Plan) { p.Agent = nil },
		},
		"a password is for the agent, too": {
			spec: cachev1.MemcachedSpec{
				Auth: &cachev1.Auth{SecretName: "users"}, Metrics: &cachev1.Metrics{Mode: cachev1.MetricsDisabled},
			},
			want: func(p *Plan) {
				p.AuthSecret, p.Memcached.AuthFile, p.Agent.Metrics = "users", "/run/memcached/users", false
			},
		},
		"TLS takes memory, and without a word of clients' certificates leaves the CA alone": {
			spec: cachev1.MemcachedSpec{TLS: &cachev1.TLS{SecretName: "tls"}},
			want: func(p *Plan) {
				p.TLSSecret = "tls"
				p.Memcached.TLS = &memcached.TLS{
					Port: 11212, Certificate: "/etc/memcached/tls/tls.crt", Key: "/etc/memcached/tls/tls.key",
				}
				p.Resources.Limits["memory"] = resource.MustParse("276Mi")
				p.Resources.Requests["memory"] = resource.MustParse("276Mi")
			},
		},
		"suspended": {
			spec: cachev1.MemcachedSpec{Suspend: true},
			want: func(p *Plan) { p.Suspended = true },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			want := plain()
			tc.want(&want)
			got, err := Compute(memcachedWith(tc.spec), nil, defaults)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Plan{}, "Record")); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func setMemory(p *Plan, quantity string) {
	p.Resources.Limits["memory"], p.Resources.Requests["memory"] = resource.MustParse(quantity), resource.MustParse(quantity)
}

func TestComputeRefusesWhatIsImpossible(t *testing.T) {
	limit := func(name corev1.ResourceName, quantity string) *cachev1.Resources {
		return &cachev1.Resources{Limits: corev1.ResourceList{name: resource.MustParse(quantity)}}
	}
	tests := map[string]struct {
		spec cachev1.MemcachedSpec
		want []string
	}{
		"an image in capitals": {
			spec: cachev1.MemcachedSpec{Image: "Memcached"},
			want: []string{`spec.image "Memcached" is no image reference`, "write [registry[:port]/]name"},
		},
		"an image with an empty tag":       {cachev1.MemcachedSpec{Image: "memcached:"}, []string{`spec.image "memcached:"`}},
		"an image with a shortened digest": {cachev1.MemcachedSpec{Image: "memcached@sha256:12"}, []string{"spec.image"}},
		"an item size that is no multiple of memcached's chunk": {
			spec: cachev1.MemcachedSpec{MaxItemSize: new(resource.MustParse("1500Ki"))},
			want: []string{`spec.maxItemSize "1500Ki" is no multiple of 512Ki`, "set it to 1Mi or 1536Ki"},
		},
		"a toleration without a key": {
			spec: cachev1.MemcachedSpec{Placement: &cachev1.Placement{Tolerations: []corev1.Toleration{{}}}},
			want: []string{"spec.placement.tolerations[0] has no key"},
		},
		"an empty node selector term": {
			spec: cachev1.MemcachedSpec{Placement: &cachev1.Placement{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}},
			}}}},
			want: []string{"nodeSelectorTerms[0] is empty, which selects no machine"},
		},
		"items larger than half of memory": {
			spec: cachev1.MemcachedSpec{MaxItemSize: new(resource.MustParse("33Mi"))},
			want: []string{`spec.maxItemSize "33Mi" is more than half of memory`, "at most 32Mi", "spec.memory to at least 66Mi"},
		},
		"an argument that the operator manages": {
			spec: cachev1.MemcachedSpec{ExtraArgs: []string{"-v", "-m", "9"}},
			want: []string{`spec.extraArgs: "-m" sets memcached's --memory-limit: set spec.memory instead`},
		},
		"a memory limit that can't hold the items": {
			spec: cachev1.MemcachedSpec{Memory: new(resource.MustParse("1Gi")), Resources: limit("memory", "1Gi")},
			want: []string{`spec.resources.limits.memory "1Gi"`, "raise it to at least 1304Mi", "1Gi for items"},
		},
		"a request above its limit": {
			spec: cachev1.MemcachedSpec{Resources: &cachev1.Resources{
				Requests: corev1.ResourceList{"cpu": resource.MustParse("2")},
				Limits:   corev1.ResourceList{"cpu": resource.MustParse("1")},
			}},
			want: []string{`spec.resources.requests.cpu "2" is more than its limit "1"`},
		},
		"a request of any other resource above its limit": {
			spec: cachev1.MemcachedSpec{Resources: &cachev1.Resources{
				Requests: corev1.ResourceList{"hugepages-2Mi": resource.MustParse("4Mi")},
				Limits:   corev1.ResourceList{"hugepages-2Mi": resource.MustParse("2Mi")},
			}},
			want: []string{`spec.resources.requests.hugepages-2Mi "4Mi" is more than its limit "2Mi"`},
		},
		"a label that is none": {
			spec: cachev1.MemcachedSpec{PodMetadata: &cachev1.PodMetadata{Labels: map[string]string{"a b": "c"}}},
			want: []string{`spec.podMetadata.labels: Invalid value: "a b"`},
		},
		"an annotation that is none": {
			spec: cachev1.MemcachedSpec{Service: &cachev1.ServiceMetadata{Annotations: map[string]string{"/": ""}}},
			want: []string{`spec.service.annotations: Invalid value: "/"`},
		},
		"a node selector that is none": {
			spec: cachev1.MemcachedSpec{Placement: &cachev1.Placement{NodeSelector: map[string]string{"a": "b c"}}},
			want: []string{`spec.placement.nodeSelector: Invalid value: "b c"`},
		},
		"two mistakes, both of them said": {
			spec: cachev1.MemcachedSpec{Image: "X", ExtraArgs: []string{"-p1"}},
			want: []string{"spec.image", "; spec.extraArgs"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Compute(memcachedWith(tc.spec), nil, defaults)
			if _, ok := errors.AsType[*InvalidSpec](err); !ok {
				t.Fatalf("got %v, want an InvalidSpec", err)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}

func TestEndpoint(t *testing.T) {
	p, err := Compute(memcachedWith(cachev1.MemcachedSpec{}), nil, defaults)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Endpoint(), "cache.team.svc:11211"; got != want {
		t.Errorf("endpoint %q, want %q", got, want)
	}
}
