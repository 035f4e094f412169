package plan

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

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
			want: []string{`spec.image "Memcached" is not an image reference`, "write [registry[:port]/]name"},
		},
		"an image with an empty tag":       {cachev1.MemcachedSpec{Image: "memcached:"}, []string{`spec.image "memcached:"`}},
		"an image with a shortened digest": {cachev1.MemcachedSpec{Image: "memcached@sha256:12"}, []string{"spec.image"}},
		"an item size that is not a multiple of memcached's chunk": {
			spec: cachev1.MemcachedSpec{MaxItemSize: new(resource.MustParse("1500Ki"))},
			want: []string{`spec.maxItemSize "1500Ki" is not a multiple of 512Ki`, "set it to 1Mi or 1536Ki"},
		},
		"a toleration without a key": {
			spec: cachev1.MemcachedSpec{Placement: &cachev1.Placement{Tolerations: []corev1.Toleration{{}}}},
			want: []string{"spec.placement.tolerations[0] has no key"},
		},
		"an empty node selector term": {
			spec: cachev1.MemcachedSpec{Placement: &cachev1.Placement{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}},
			}}}},
			want: []string{"nodeSelectorTerms[0] is empty, which selects no Node"},
		},
		"items larger than half of memory": {
			spec: cachev1.MemcachedSpec{MaxItemSize: new(resource.MustParse("33Mi"))},
			want: []string{`spec.maxItemSize "33Mi" is more than half of memory`, "at most 32Mi", "spec.memory to at least 66Mi"},
		},
		"an argument that the operator manages": {
			spec: cachev1.MemcachedSpec{ExtraArgs: []string{"-v", "-m", "9"}},
			want: []string{`spec.extraArgs: "-m" sets memcached's --memory-limit: set spec.memory instead`},
		},
		"an argument that becomes another one in the Pod": { // -tcp, which is -t cp
			spec: cachev1.MemcachedSpec{ExtraArgs: []string{"-$(KUBERNETES_PORT_443_TCP_PROTO)"}},
			want: []string{`spec.extraArgs: "-$(KUBERNETES_PORT_443_TCP_PROTO)" contains "$("`, "write the value itself"},
		},
		"a memory limit that can't hold the items": {
			spec: cachev1.MemcachedSpec{Memory: new(resource.MustParse("1Gi")), Resources: &cachev1.MemcachedResources{Resources: *limit("memory", "1Gi")}},
			want: []string{`spec.resources.limits.memory "1Gi"`, "raise the limit to at least 1304Mi", "1Gi for items"},
		},
		"a request above its limit": {
			spec: cachev1.MemcachedSpec{Resources: &cachev1.MemcachedResources{Resources: cachev1.Resources{
				Requests: corev1.ResourceList{"cpu": resource.MustParse("2")},
				Limits:   corev1.ResourceList{"cpu": resource.MustParse("1")},
			}}},
			want: []string{`spec.resources.requests.cpu "2" is more than its limit "1"`},
		},
		"a request of any other resource above its limit": {
			spec: cachev1.MemcachedSpec{Resources: &cachev1.MemcachedResources{Resources: cachev1.Resources{
				Requests: corev1.ResourceList{"hugepages-2Mi": resource.MustParse("4Mi")},
				Limits:   corev1.ResourceList{"hugepages-2Mi": resource.MustParse("2Mi")},
			}}},
			want: []string{`spec.resources.requests.hugepages-2Mi "4Mi" is more than its limit "2Mi"`},
		},
		"a memory limit that the agent can't live with": {
			spec: agentWith("limits", "memory", "16Mi"),
			want: []string{`spec.agent.resources.limits.memory "16Mi" is less than the agent needs`, "raise the limit to at least 32Mi"},
		},
		"a request of the agent's above its limit": {
			spec: cachev1.MemcachedSpec{Agent: &cachev1.Agent{Resources: &cachev1.Resources{
				Requests: corev1.ResourceList{"cpu": resource.MustParse("2")},
				Limits:   corev1.ResourceList{"cpu": resource.MustParse("1")},
			}}},
			want: []string{`spec.agent.resources.requests.cpu "2" is more than its limit "1"`},
		},
		"an annotation that lifts the AppArmor profile": {
			spec: cachev1.MemcachedSpec{PodTemplate: &cachev1.PodTemplate{Metadata: &cachev1.Metadata{Annotations: map[string]string{
				"container.apparmor.security.beta.kubernetes.io/memcached": "unconfined",
			}}}},
			want: []string{
				`spec.podTemplate.metadata.annotations[container.apparmor.security.beta.kubernetes.io/memcached] "unconfined" is refused`,
				"set runtime/default or localhost/PROFILE, or remove it",
			},
		},
		"a label of all objects that is none": {
			spec: cachev1.MemcachedSpec{CommonMetadata: &cachev1.Metadata{Labels: map[string]string{"a b": "c"}}},
			want: []string{`spec.commonMetadata.labels: Invalid value: "a b"`},
		},
		"an annotation of all objects that is none": {
			spec: cachev1.MemcachedSpec{CommonMetadata: &cachev1.Metadata{Annotations: map[string]string{"/": ""}}},
			want: []string{`spec.commonMetadata.annotations: Invalid value: "/"`},
		},
		"a label that is none": {
			spec: cachev1.MemcachedSpec{PodTemplate: &cachev1.PodTemplate{Metadata: &cachev1.Metadata{Labels: map[string]string{"a b": "c"}}}},
			want: []string{`spec.podTemplate.metadata.labels: Invalid value: "a b"`},
		},
		"an annotation that is none": {
			spec: cachev1.MemcachedSpec{Service: &cachev1.Service{Metadata: &cachev1.Metadata{Annotations: map[string]string{"/": ""}}}},
			want: []string{`spec.service.metadata.annotations: Invalid value: "/"`},
		},
		"a name server that is not an IP address": {
			spec: cachev1.MemcachedSpec{PodTemplate: &cachev1.PodTemplate{DNSConfig: &cachev1.DNSConfig{
				Nameservers: []string{"10.0.0.10", "dns.example.com"},
			}}},
			want: []string{`spec.podTemplate.dnsConfig.nameservers[1] "dns.example.com" is not an IP address`, "10.0.0.10"},
		},
		"a search domain that is none": {
			spec: cachev1.MemcachedSpec{PodTemplate: &cachev1.PodTemplate{DNSConfig: &cachev1.DNSConfig{
				Searches: []string{"example.com", "_tcp.example.com.", ".", "a b"},
			}}},
			want: []string{`spec.podTemplate.dnsConfig.searches[3] "a b" is not a domain`},
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
			_, err := computed(memcachedWith(tc.spec), nothing, defaults)
			if _, ok := errors.AsType[refused](err); !ok {
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

// TestHugeLimitsAreEnough, even if an int64 has no room for the number of their bytes.
func TestHugeLimitsAreEnough(t *testing.T) {
	for _, quantity := range []string{"1e30", "99999E"} {
		limits := &cachev1.Resources{Limits: corev1.ResourceList{"memory": resource.MustParse(quantity)}}
		mc := memcachedWith(cachev1.MemcachedSpec{Resources: &cachev1.MemcachedResources{Resources: *limits}, Agent: &cachev1.Agent{Resources: limits}})
		if _, err := computed(mc, Current{}, defaults); err != nil {
			t.Errorf("%s: %v", quantity, err)
		}
	}
}
