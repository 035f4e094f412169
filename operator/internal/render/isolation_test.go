package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/example-inc/memcached-operator/internal/testing/arbitrary"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// party is a Pod that connects, or that others connect to.
type party struct {
	namespace string
	// namespaceLabels are the labels of its namespace, besides the one that the API server sets.
	namespaceLabels, labels map[string]string
	address                 string
}

// admits evaluates a NetworkPolicy as network plugins do: it reports whether a party may reach the selected Pods at a
// TCP port.
func admits(policy *networkingv1.NetworkPolicy, from party, port int32) bool {
	return slices.ContainsFunc(policy.Spec.Ingress, func(rule networkingv1.NetworkPolicyIngressRule) bool {
		open := len(rule.Ports) == 0 || slices.ContainsFunc(rule.Ports, func(p networkingv1.NetworkPolicyPort) bool {
			return p.Port == nil || p.Port.IntVal == port || p.EndPort != nil && p.Port.IntVal <= port && port <= *p.EndPort
		})
		return open && (len(rule.From) == 0 || slices.ContainsFunc(rule.From, func(peer networkingv1.NetworkPolicyPeer) bool {
			return matches(policy.Namespace, peer, from)
		}))
	})
}

func matches(home string, peer networkingv1.NetworkPolicyPeer, from party) bool {
	if peer.IPBlock != nil {
		return inside(peer.IPBlock.CIDR, from.address) && !slices.ContainsFunc(peer.IPBlock.Except, func(block string) bool {
			return inside(block, from.address)
		})
	}
	if peer.NamespaceSelector == nil {
		return peer.PodSelector != nil && from.namespace == home && selects(peer.PodSelector, from.labels)
	}
	space := labels.Merge(from.namespaceLabels, labels.Set{"kubernetes.io/metadata.name": from.namespace})
	return selects(peer.NamespaceSelector, space) && (peer.PodSelector == nil || selects(peer.PodSelector, from.labels))
}

func inside(block, address string) bool {
	_, network, err := net.ParseCIDR(block)
	return err == nil && network.Contains(net.ParseIP(address))
}

func selects(selector *metav1.LabelSelector, set map[string]string) bool {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && parsed.Matches(labels.Set(set))
}

// policyOf returns the NetworkPolicy of a plan; nil if the plan has none.
func policyOf(t *testing.T, p plan.Plan) *networkingv1.NetworkPolicy {
	t.Helper()
	for _, object := range objectsOf(p) {
		if object.Kind != "NetworkPolicy" {
			continue
		}
		text, err := json.Marshal(object.Configuration)
		if err != nil {
			t.Fatal(err)
		}
		policy := &networkingv1.NetworkPolicy{}
		decodeStrictly(t, string(text), policy)
		return policy
	}
	return nil
}

// TestWhoReachesWhichPortOfACache also tries the Pods of other caches, whose memcached an attacker may control.
func TestWhoReachesWhichPortOfACache(t *testing.T) {
	const memcachedPort, tlsPort, metricsPort = names.PortNumber, names.TLSPortNumber, names.MetricsPortNumber
	peer := func(set map[string]string) []networkingv1.NetworkPolicyPeer {
		return []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{MatchLabels: set}}}
	}
	shop := map[string]string{"app": "shop"}
	named := func(s *cachev1.MemcachedSpec) {
		s.NetworkPolicy = &cachev1.NetworkPolicy{From: peer(shop), MetricsFrom: []networkingv1.NetworkPolicyPeer{
			{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": "monitoring"}}},
		}}
	}
	both := func(change, other func(*cachev1.MemcachedSpec)) func(*cachev1.MemcachedSpec) {
		return func(s *cachev1.MemcachedSpec) { change(s); other(s) }
	}
	operator := map[string]string{"app.kubernetes.io/name": "memcached-operator", "control-plane": "controller-manager"}
	parties := map[string]party{
		"a client":                           {namespace: "team", labels: shop, address: "10.0.0.1"},
		"a client's namesake elsewhere":      {namespace: "other", labels: shop, address: "10.0.0.2"},
		"another cache of the namespace":     {namespace: "team", labels: names.Labels("sessions"), address: "10.0.0.3"},
		"a cache of the same name elsewhere": {namespace: "other", labels: names.Labels("cache"), address: "10.0.0.4"},
		"Prometheus":                         {namespace: "monitoring", labels: map[string]string{"app": "prometheus"}, address: "10.0.0.5"},
		"a cache whose author labels it so":  {namespace: "team", labels: labels.Merge(names.Labels("sessions"), labels.Set{"team": "shop"})},
		"the operator":                       {namespace: "memcached-operator-system", labels: operator},
		"a Pod that calls itself so":         {namespace: "team", labels: operator},
		"a Pod of the same cache":            {namespace: "team", labels: names.Labels("cache"), address: "10.0.0.6"},
	}
	everyone := func(ports ...int32) map[string][]int32 {
		want := map[string][]int32{}
		for name := range parties {
			want[name] = ports
		}
		return want
	}
	tests := map[string]struct {
		change func(*cachev1.MemcachedSpec)
		want   map[string][]int32
	}{
		"all by default":            {nothing, everyone(memcachedPort, metricsPort)},
		"TLS closes the other port": {tls, everyone(tlsPort, metricsPort)},
		"TLS with plaintext":        {mutualTLS, everyone(memcachedPort, tlsPort, metricsPort)},
		"no metrics": {func(s *cachev1.MemcachedSpec) {
			s.Metrics = &cachev1.Metrics{Mode: cachev1.MetricsDisabled}
		}, everyone(memcachedPort)},
		"clients and Prometheus are named": {named, map[string][]int32{"a client": {memcachedPort}, "Prometheus": {metricsPort}}},
		"named, with TLS":                  {both(named, tls), map[string][]int32{"a client": {tlsPort}, "Prometheus": {metricsPort}}},
		"named, and its use is observed": {
			both(named, func(s *cachev1.MemcachedSpec) {
				s.Autoscaling = &cachev1.Autoscaling{Memory: &cachev1.MemoryAutoscaling{Max: resource.MustParse("1Gi")}}
			}),
			map[string][]int32{
				"a client": {memcachedPort}, "Prometheus": {metricsPort}, "the operator": {names.AgentProbePortNumber},
			},
		},
		"by a label that anyone may set": {
			func(s *cachev1.MemcachedSpec) {
				s.NetworkPolicy = &cachev1.NetworkPolicy{From: peer(map[string]string{"team": "shop"}), MetricsFrom: peer(shop)}
			},
			map[string][]int32{"a cache whose author labels it so": {memcachedPort}, "a client": {metricsPort}},
		},
		"by address": {
			func(s *cachev1.MemcachedSpec) {
				block := []networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: "10.0.0.0/29", Except: []string{"10.0.0.2/31"}}}}
				s.NetworkPolicy = &cachev1.NetworkPolicy{From: block, MetricsFrom: peer(shop)}
			},
			map[string][]int32{
				"a client": {memcachedPort, metricsPort}, "a cache of the same name elsewhere": {memcachedPort},
				"Prometheus": {memcachedPort}, "a Pod of the same cache": {memcachedPort},
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			policy := policyOf(t, planned(t, tc.change, defaults))
			got := map[string][]int32{}
			for name, from := range parties {
				for port := int32(1); port <= math.MaxUint16; port++ {
					if admits(policy, from, port) {
						got[name] = append(got[name], port)
					}
				}
			}
			for _, ports := range tc.want {
				slices.Sort(ports)
			}
			for _, ports := range got {
				slices.Sort(ports)
			}
			if diff := gocmp.Diff(tc.want, got); diff != "" {
				t.Errorf("ports (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNoLabelMakesAPodThatOfAnotherCache: the CRD refuses these labels, and they would have no effect without the CRD,
// either.
func TestNoLabelMakesAPodThatOfAnotherCache(t *testing.T) {
	p := planned(t, func(s *cachev1.MemcachedSpec) {
		s.PodTemplate = &cachev1.PodTemplate{Metadata: &cachev1.Metadata{Labels: names.Selector("sessions")}}
		s.CommonMetadata = &cachev1.Metadata{Labels: names.Selector("sessions")}
	}, defaults)
	if got := podsOf(t, p)[0].Labels; !selects(&metav1.LabelSelector{MatchLabels: names.Selector("cache")}, got) {
		t.Errorf("the Pods of the cache are labelled %v", got)
	}
}

// FuzzTheNetworkPolicyOfAnySpecIsItsOwn: it selects only the Pods of its cache. It opens the ports of memcached to the
// peers of networkPolicy.from, the port of the metrics to the peers of networkPolicy.metricsFrom, and no other port.
func FuzzTheNetworkPolicyOfAnySpecIsItsOwn(f *testing.F) {
	f.Add([]byte{}, []byte("memcached"))
	f.Add([]byte("memcached"), []byte{1})
	f.Fuzz(func(t *testing.T, data, others []byte) {
		mc, other := arbitrary.Memcached(arbitrary.Filler(data)), arbitrary.Memcached(arbitrary.Filler(others))
		other.Name = "sessions"
		p, err := computed(mc, plan.Current{SecretsUsable: true}, defaults)
		otherPlan, otherErr := computed(other, plan.Current{SecretsUsable: true}, defaults)
		if cmp.Or(err, otherErr) != nil {
			return
		}
		policy, stranger := policyOf(t, p), podsOf(t, otherPlan)[0].Labels
		if policy == nil {
			return
		}
		if !selects(&policy.Spec.PodSelector, podsOf(t, p)[0].Labels) || selects(&policy.Spec.PodSelector, stranger) {
			t.Errorf("%v selects other Pods than its own", policy.Spec.PodSelector)
		}
		from := party{namespace: mc.Namespace, labels: stranger, address: "10.0.0.1"}
		for _, port := range []int32{1, names.PortNumber, names.TLSPortNumber, names.MetricsPortNumber, names.AgentProbePortNumber} {
			want := asTheSpecSays(p, mc.Spec, from, port)
			if got := admits(policy, from, port); got != want {
				t.Errorf("port %s of the cache is open to another one: %v, want %v", fmt.Sprint(port), got, want)
			}
		}
	})
}

// asTheSpecSays reports whether a client may connect, derived only from the documentation of the API.
func asTheSpecSays(p plan.Plan, spec cachev1.MemcachedSpec, from party, port int32) bool {
	access := cmp.Or(spec.NetworkPolicy, &cachev1.NetworkPolicy{})
	peers := access.From
	switch {
	case port == names.MetricsPortNumber && p.AgentMetrics:
		peers = access.MetricsFrom
	case port == names.TLSPortNumber && spec.TLS != nil:
	case port == names.PortNumber && (spec.TLS == nil || spec.TLS.Plaintext == cachev1.PlaintextEnabled):
	default:
		return false
	}
	return len(peers) == 0 || slices.ContainsFunc(peers, func(peer networkingv1.NetworkPolicyPeer) bool {
		return matches(p.Namespace, peer, from)
	})
}
