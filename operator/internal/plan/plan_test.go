package plan

import (
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
	check(t, map[string]planCase{
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
			want: func(p *Plan) { p.Memcached.ItemMemory = 95 << 20; setMemory(p, "281Mi", "150Mi") },
		},
		"connections and threads need memory": {
			spec: cachev1.MemcachedSpec{MaxConnections: new(int32(2048)), Threads: new(int32(5))},
			want: func(p *Plan) {
				p.Memcached.MaxConnections, p.Memcached.Threads = 2048, 5
				setMemory(p, "345Mi", "128Mi")
			},
		},
		"arguments, item size and pull secrets are passed on": {
			spec: cachev1.MemcachedSpec{
				MaxItemSize: new(resource.MustParse("2Mi")), ExtraArgs: []string{"-f", "1.08"},
				ImagePullSecrets: []cachev1.LocalObjectReference{{Name: "mirror"}},
			},
			want: func(p *Plan) {
				p.Memcached.MaxItemSize, p.Memcached.ExtraArguments = 2<<20, []string{"-f", "1.08"}
				p.PullSecrets = []string{"mirror"}
			},
		},
		"all that a guaranteed Pod may use is requested": {
			spec: cachev1.MemcachedSpec{Resources: &cachev1.MemcachedResources{Profile: cachev1.ResourcesGuaranteed}},
			want: func(p *Plan) { setMemory(p, "244Mi", "244Mi") },
		},
		"a memory limit of the user's own that is large enough stays, and is no request": {
			spec: cachev1.MemcachedSpec{Resources: &cachev1.MemcachedResources{Resources: cachev1.Resources{
				Limits: corev1.ResourceList{"memory": resource.MustParse("1Gi")},
			}}},
			want: func(p *Plan) { setMemory(p, "1Gi", "113Mi") },
		},
		"a memory request beyond what is needed raises the limit": {
			spec: cachev1.MemcachedSpec{Resources: &cachev1.MemcachedResources{Resources: cachev1.Resources{
				Requests: corev1.ResourceList{"memory": resource.MustParse("1Gi")},
			}}},
			want: func(p *Plan) { setMemory(p, "1Gi", "1Gi") },
		},
		"a small CPU limit lowers the request, and the threads with it": {
			spec: cachev1.MemcachedSpec{Resources: &cachev1.MemcachedResources{Resources: cachev1.Resources{
				Limits: corev1.ResourceList{"cpu": resource.MustParse("20m")},
			}}},
			want: func(p *Plan) {
				p.Resources.Limits["cpu"], p.Resources.Requests["cpu"] = resource.MustParse("20m"), resource.MustParse("20m")
				p.Memcached.Threads = 1
				setMemory(p, "243Mi", "111Mi")
			},
		},
		"two Pods get a disruption budget of one": {
			spec: cachev1.MemcachedSpec{Size: new(int32(2))},
			want: func(p *Plan) { p.Size, p.Disruption = 2, new(intstr.FromInt32(1)) },
		},
		"a disruption budget in percent": {
			spec: cachev1.MemcachedSpec{Size: new(int32(9)), Disruption: &cachev1.Disruption{MaxUnavailable: new(intstr.FromString("25%"))}},
			want: func(p *Plan) { p.Size, p.Disruption = 9, new(intstr.FromString("25%")) },
		},
		"a rollout that deletes a Pod before it adds one, slowly": {
			spec: cachev1.MemcachedSpec{Rollout: &cachev1.Rollout{
				MaxSurge: new(intstr.FromInt32(0)), MaxUnavailable: new(intstr.FromInt32(1)), MinReadySeconds: new(int32(60)),
			}},
			want: func(p *Plan) {
				p.Rollout = Rollout{MaxUnavailable: intstr.FromInt32(1), MinReadySeconds: 60, ProgressDeadlineSeconds: 660}
			},
		},
		"a rollout with a progress deadline of a minute": {
			spec: cachev1.MemcachedSpec{Rollout: &cachev1.Rollout{MinReadySeconds: new(int32(30)), ProgressDeadlineSeconds: new(int32(60))}},
			want: func(p *Plan) { p.Rollout.MinReadySeconds, p.Rollout.ProgressDeadlineSeconds = 30, 60 },
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
			want: withTLS,
		},
		"TLS 1.3 alone": {
			spec: cachev1.MemcachedSpec{TLS: &cachev1.TLS{SecretName: "tls", MinVersion: cachev1.VersionTLS13}},
			want: func(p *Plan) { withTLS(p); p.Memcached.TLS.Only13 = true },
		},
		"TLS 1.2, which is memcached's own default, with cipher suites in any order": {
			spec: cachev1.MemcachedSpec{TLS: &cachev1.TLS{
				SecretName: "tls", MinVersion: cachev1.VersionTLS12, CipherSuites: []cachev1.CipherSuite{"b", "a"},
			}},
			want: func(p *Plan) { withTLS(p); p.Memcached.TLS.Ciphers = []string{"a", "b"} },
		},
		"metrics of each slab class": {
			spec: cachev1.MemcachedSpec{Metrics: &cachev1.Metrics{SlabMetrics: cachev1.SlabMetricsPerClass}},
			want: func(p *Plan) { p.Agent.SlabClasses = true },
		},
		"slab classes of metrics that are off": {
			spec: cachev1.MemcachedSpec{
				TLS:     &cachev1.TLS{SecretName: "tls"},
				Metrics: &cachev1.Metrics{Mode: cachev1.MetricsDisabled, SlabMetrics: cachev1.SlabMetricsPerClass},
			},
			want: func(p *Plan) { withTLS(p); p.Agent.Metrics = false },
		},
		"a CPU limit of the agent's": {
			spec: agentWith("limits", "cpu", "100m"),
			want: func(p *Plan) { p.Agent.Resources.Limits["cpu"] = resource.MustParse("100m") },
		},
		"a CPU limit of the agent's below its request": {
			spec: agentWith("limits", "cpu", "5m"),
			want: func(p *Plan) {
				p.Agent.Resources.Limits["cpu"], p.Agent.Resources.Requests["cpu"] = resource.MustParse("5m"), resource.MustParse("5m")
			},
		},
		"as much memory for the agent as it needs": {
			spec: agentWith("limits", "memory", "32Mi"),
			want: func(p *Plan) { p.Agent.Resources.Limits["memory"] = resource.MustParse("32Mi") },
		},
		"a memory request of the agent's raises its limit": {
			spec: agentWith("requests", "memory", "100Mi"),
			want: func(p *Plan) {
				p.Agent.Resources.Limits["memory"], p.Agent.Resources.Requests["memory"] = resource.MustParse("100Mi"), resource.MustParse("100Mi")
			},
		},
		"no termination delay": {
			spec: cachev1.MemcachedSpec{TerminationDelaySeconds: new(int32(0))},
			want: func(p *Plan) { p.TerminationDelaySeconds = 0 },
		},
		"a pull policy": {
			spec: cachev1.MemcachedSpec{ImagePullPolicy: "Never"},
			want: func(p *Plan) { p.PullPolicy = corev1.PullNever },
		},
		"suspended": {
			spec: cachev1.MemcachedSpec{Suspend: true},
			want: func(p *Plan) { p.Suspended = true },
		},
	})
}

// plain is the plan of an empty spec.
func plain() Plan {
	return Plan{
		Pod: Pod{
			Name: "cache", Revision: 1, Image: defaults.Image, Architectures: defaults.Architectures, UserID: new(int64(11211)),
			Memcached: memcached.Settings{
				ItemMemory: 64 << 20, Port: 11211, MaxConnections: 1024, Threads: 4, MaxItemSize: 1 << 20,
			},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"cpu": resource.MustParse("50m"), "memory": resource.MustParse("113Mi")},
				Limits:   corev1.ResourceList{"memory": resource.MustParse("244Mi")},
			},
			Agent: &Agent{Image: defaults.AgentImage, Metrics: true, Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"cpu": resource.MustParse("10m"), "memory": resource.MustParse("32Mi")},
				Limits:   corev1.ResourceList{"memory": resource.MustParse("64Mi")},
			}},
			TerminationDelaySeconds: 30,
		},
		Namespace: "team", UID: "uid-1", Size: 1,
		Rollout:       Rollout{MaxSurge: intstr.FromInt32(1), MaxUnavailable: intstr.FromInt32(0), ProgressDeadlineSeconds: 600},
		NetworkPolicy: &NetworkPolicy{},
	}
}

// planCase is a spec, and the difference between its plan and the plan of an empty spec.
type planCase struct {
	spec cachev1.MemcachedSpec
	want func(*Plan)
}

func check(t *testing.T, tests map[string]planCase) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			want := plain()
			tc.want(&want)
			got, err := computed(memcachedWith(tc.spec), nothing, defaults)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Plan{}, "Record", "Endpoint", "ServicePorts", "AgentMetrics")); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// withTLS changes the plan as a usable Secret for TLS does.
func withTLS(p *Plan) {
	p.TLSSecret = "tls"
	p.Memcached.TLS = &memcached.TLS{
		Port: 11212, Certificate: "/etc/memcached/tls/tls.crt", Key: "/etc/memcached/tls/tls.key",
	}
	setMemory(p, "276Mi", "130Mi")
}

func agentWith(kind string, name corev1.ResourceName, quantity string) cachev1.MemcachedSpec {
	resources, list := &cachev1.Resources{}, corev1.ResourceList{name: resource.MustParse(quantity)}
	if kind == "limits" {
		resources.Limits = list
	} else {
		resources.Requests = list
	}
	return cachev1.MemcachedSpec{Agent: &cachev1.Agent{Resources: resources}}
}

func setMemory(p *Plan, limit, request string) {
	p.Resources.Limits["memory"], p.Resources.Requests["memory"] = resource.MustParse(limit), resource.MustParse(request)
}

func TestEndpoint(t *testing.T) {
	p, err := computed(memcachedWith(cachev1.MemcachedSpec{}), nothing, defaults)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Endpoint, "cache.team.svc:11211"; got != want {
		t.Errorf("endpoint %q, want %q", got, want)
	}
}
