package render

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func memoryAndResources(s *cachev1.MemcachedSpec) {
	s.Memory, s.MaxItemSize = new(resource.MustParse("1Gi")), new(resource.MustParse("8Mi"))
	s.MaxConnections, s.Threads = new(int32(4096)), new(int32(8))
	s.Resources = &cachev1.MemcachedResources{Resources: cachev1.Resources{
		Requests: corev1.ResourceList{"cpu": resource.MustParse("500m"), "ephemeral-storage": resource.MustParse("1Mi")},
		Limits:   corev1.ResourceList{"cpu": resource.MustParse("2"), "memory": resource.MustParse("2Gi")},
	}}
}

func architectures(s *cachev1.MemcachedSpec) {
	s.Placement = &cachev1.Placement{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
			{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: "In", Values: []string{"fast"}}}},
			{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{"one"}}}},
		}},
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
			Weight: 1, Preference: corev1.NodeSelectorTerm{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "rack", Operator: "Exists"}},
			},
		}},
	}}}
	s.Placement.Architectures = []cachev1.Architecture{"arm64", "s390x"}
	s.Placement.PreferredArchitectures = []cachev1.PreferredArchitecture{{Architecture: "arm64", Weight: 80}}
}

func placement(s *cachev1.MemcachedSpec) {
	s.Placement = &cachev1.Placement{
		NodeSelector: map[string]string{"pool": "caches"},
		Tolerations: []corev1.Toleration{{
			Key: "caches", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: new(int64(60)),
		}},
		Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				TopologyKey:   "kubernetes.io/hostname",
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"noisy": "yes"}},
			}},
		}},
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
			MaxSkew: 2, TopologyKey: "rack", WhenUnsatisfiable: "DoNotSchedule", MinDomains: new(int32(2)),
		}},
		PriorityClassName: "caches",
	}
}

func rolloutAndDisruption(s *cachev1.MemcachedSpec) {
	s.Rollout = &cachev1.Rollout{
		MaxSurge: new(intstr.FromString("25%")), MaxUnavailable: new(intstr.FromInt32(2)), MinReadySeconds: new(int32(30)),
	}
	s.Disruption = &cachev1.Disruption{MaxUnavailable: new(intstr.FromString("50%"))}
}

func progressDeadline(s *cachev1.MemcachedSpec) {
	s.Rollout = &cachev1.Rollout{ProgressDeadlineSeconds: new(int32(60))}
}

func networkPeers(s *cachev1.MemcachedSpec) {
	s.NetworkPolicy = &cachev1.NetworkPolicy{From: []networkingv1.NetworkPolicyPeer{
		{PodSelector: &metav1.LabelSelector{}},
		{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "shop"}}},
		{IPBlock: &networkingv1.IPBlock{CIDR: "10.0.0.0/8", Except: []string{"10.1.0.0/16"}}},
	}, MetricsFrom: []networkingv1.NetworkPolicyPeer{
		{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "watchers"}}},
	}}
}

func withSlots(s *cachev1.MemcachedSpec) {
	networkPeers(s)
	s.Slots = &cachev1.Slots{}
}

func withDiscovery(s *cachev1.MemcachedSpec) {
	networkPeers(s)
	mutualTLS(s)
	s.Discovery = &cachev1.Discovery{}
}

func withBootstrap(s *cachev1.MemcachedSpec) {
	networkPeers(s)
	placement(s)
	mutualTLS(s)
	auth(s)
	s.Slots = &cachev1.Slots{ClientHash: cachev1.HashRendezvous}
	s.Bootstrap = &cachev1.Bootstrap{From: cachev1.BootstrapSource{
		Servers: []string{"old-0.old.svc:11212", "old-1.old.svc:11212"}, ClientHash: cachev1.HashKetama,
		TLS: &cachev1.BootstrapTLS{SecretName: "old-tls"}, Auth: &cachev1.BootstrapAuth{SecretName: "old-users"},
	}}
}

func withIssuer(s *cachev1.MemcachedSpec) {
	s.TLS = &cachev1.TLS{IssuerRef: &cachev1.IssuerRef{Name: "ca"}, ClientAuth: cachev1.ClientAuthRequire}
	s.Slots, s.Discovery = &cachev1.Slots{Mode: cachev1.SlotsClusterIP}, &cachev1.Discovery{}
}

func withBinding(s *cachev1.MemcachedSpec) {
	tls(s)
	auth(s)
	s.Discovery, s.Binding = &cachev1.Discovery{}, &cachev1.Binding{SecretName: "cache-binding"}
	s.CommonMetadata = &cachev1.Metadata{Labels: map[string]string{"team": "shop"}}
}

func tls(s *cachev1.MemcachedSpec) {
	s.TLS = &cachev1.TLS{SecretName: "cache-tls"}
}

func mutualTLS(s *cachev1.MemcachedSpec) {
	s.TLS = &cachev1.TLS{
		SecretName: "cache-tls", ClientAuth: cachev1.ClientAuthRequire, Plaintext: cachev1.PlaintextEnabled,
	}
}

func auth(s *cachev1.MemcachedSpec) {
	s.Auth = &cachev1.Auth{SecretName: "cache-users"}
}

func metadata(s *cachev1.MemcachedSpec) {
	s.PodTemplate = &cachev1.PodTemplate{Metadata: &cachev1.Metadata{
		Labels:      map[string]string{"team": "shop", "app.kubernetes.io/name": "basket"},
		Annotations: map[string]string{"injector.example.com/inject": "false"},
	}}
	s.Service = &cachev1.Service{Metadata: &cachev1.Metadata{
		Labels:      map[string]string{"team": "shop"},
		Annotations: map[string]string{"dns.example.com/name": "cache.example.com"},
	}}
}

func metadataOfAll(s *cachev1.MemcachedSpec) {
	metadata(s)
	s.CommonMetadata = &cachev1.Metadata{
		Labels:      map[string]string{"team": "platform", "cost-center": "7", "app.kubernetes.io/part-of": "shop"},
		Annotations: map[string]string{"dns.example.com/name": "other.example.com", "example.com/contact": "shop@example.com"},
	}
}

func dualStack(s *cachev1.MemcachedSpec) {
	s.Service = &cachev1.Service{IPFamilyPolicy: "RequireDualStack", IPFamilies: []cachev1.IPFamily{"IPv6", "IPv4"}}
}

func podFields(s *cachev1.MemcachedSpec) {
	s.ImagePullPolicy = "Always"
	s.Placement = &cachev1.Placement{SchedulerName: "batch", RuntimeClassName: "sandbox"}
	s.TerminationDelaySeconds = new(int32(120))
	s.PodTemplate = &cachev1.PodTemplate{
		ServiceAccountName: "caches", AutomountServiceAccountToken: true, DNSConfig: &cachev1.DNSConfig{
			Nameservers: []string{"10.0.0.10"}, Searches: []string{"example.com"},
			Options: []cachev1.DNSOption{{Name: "ndots", Value: "2"}, {Name: "edns0"}},
		},
	}
	s.Agent = &cachev1.Agent{Resources: &cachev1.Resources{
		Limits: corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("96Mi")},
	}}
	s.Metrics = &cachev1.Metrics{SlabMetrics: cachev1.SlabMetricsPerClass}
}

func modernTLS(s *cachev1.MemcachedSpec) {
	s.TLS = &cachev1.TLS{SecretName: "cache-tls", MinVersion: cachev1.VersionTLS13}
}

func cipherSuites(s *cachev1.MemcachedSpec) {
	s.TLS = &cachev1.TLS{
		SecretName: "cache-tls", ClientAuth: cachev1.ClientAuthRequire, MinVersion: cachev1.VersionTLS12,
		CipherSuites: []cachev1.CipherSuite{"ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-AES128-GCM-SHA256"},
	}
}
