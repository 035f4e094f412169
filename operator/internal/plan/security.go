package plan

// TLS, users, and whether an agent is needed.

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/memcached"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// Agent is the agent next to memcached.
type Agent struct {
	Image string

	// Metrics: the agent serves metrics.
	Metrics bool

	// SlabClasses: the metrics include those of each slab class.
	SlabClasses bool

	Resources corev1.ResourceRequirements
}

// tlsSettings sets the CA of clients only if the spec requests client certificates, because cert-manager adds a CA to
// each Secret, whether it is needed or not.
func tlsSettings(spec cachev1.MemcachedSpec) *memcached.TLS {
	if spec.TLS == nil {
		return nil
	}
	settings := &memcached.TLS{
		Port:        names.TLSPortNumber,
		Plaintext:   spec.TLS.Plaintext == cachev1.PlaintextEnabled,
		Certificate: names.TLSDir + "/tls.crt",
		Key:         names.TLSDir + "/tls.key",
		Require:     spec.TLS.ClientAuth == cachev1.ClientAuthRequire,
		Only13:      spec.TLS.MinVersion == cachev1.VersionTLS13,
	}
	// The client chooses the cipher suite, so the order has no meaning.
	for _, suite := range slices.Sorted(slices.Values(spec.TLS.CipherSuites)) {
		settings.Ciphers = append(settings.Ciphers, string(suite))
	}
	if spec.TLS.RequestsCertificates() {
		settings.ClientCA = names.TLSDir + "/ca.crt"
	}
	return settings
}

func authFile(spec cachev1.MemcachedSpec) string {
	if spec.Auth == nil {
		return ""
	}
	return names.AuthFile
}

func hasMetrics(spec cachev1.MemcachedSpec) bool {
	return orZero(spec.Metrics).Mode != cachev1.MetricsDisabled
}

// needsAgent reports whether the agent has anything to do besides the handoff of slots.
func needsAgent(spec cachev1.MemcachedSpec) bool {
	return spec.TLS != nil || spec.Auth != nil || spec.Discovery != nil || hasMetrics(spec)
}

func agent(spec cachev1.MemcachedSpec, record Record) *Agent {
	if !needsAgent(spec) && !record.Slots {
		return nil
	}
	return &Agent{
		Image:       record.Agent,
		Metrics:     hasMetrics(spec),
		SlabClasses: hasMetrics(spec) && orZero(spec.Metrics).SlabMetrics == cachev1.SlabMetricsPerClass,
		Resources:   agentResources(spec),
	}
}
