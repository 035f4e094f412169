package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

const (
	onPlaintext = names.PlaintextPort | names.AgentMetricsPort
	onTLS       = names.EncryptedPort | names.AgentMetricsPort
	onBoth      = onPlaintext | onTLS
)

func TestPortsStayOpenAsLongAsAPodListensOnThem(t *testing.T) {
	const plaintext, encrypted = "cache.team.svc:11211", "cache.team.svc:11212"
	tls := &cachev1.TLS{SecretName: "tls"}
	both := &cachev1.TLS{SecretName: "tls", Plaintext: cachev1.PlaintextEnabled}
	tests := map[string]struct {
		tls         *cachev1.TLS
		before      string
		pods        []names.Ports
		terminating names.Ports
		suspended   bool
		endpoint    string
		ports       []Port
	}{
		"a new cache without TLS":   {endpoint: plaintext, ports: []Port{plaintextPort}},
		"a new cache with TLS":      {tls: tls, endpoint: encrypted, ports: []Port{encryptedPort}},
		"a new cache that has both": {tls: both, endpoint: encrypted, ports: []Port{encryptedPort, plaintextPort}},
		"TLS is switched on, and no Pod has it yet": {
			tls: tls, before: plaintext, pods: []names.Ports{onPlaintext, onPlaintext},
			endpoint: plaintext, ports: []Port{encryptedPort, plaintextPort},
		},
		"TLS is switched on, and one Pod is left without": {
			tls: tls, before: plaintext, pods: []names.Ports{onPlaintext, onTLS},
			endpoint: plaintext, ports: []Port{encryptedPort, plaintextPort},
		},
		"TLS is switched on, and the last Pod without is terminating": {
			tls: tls, before: plaintext, pods: []names.Ports{onTLS, onTLS}, terminating: onPlaintext,
			endpoint: encrypted, ports: []Port{encryptedPort, plaintextPort},
		},
		"TLS is switched on, and no Pod is left without": {
			tls: tls, before: encrypted, pods: []names.Ports{onTLS, onTLS}, endpoint: encrypted, ports: []Port{encryptedPort},
		},
		"TLS is switched on and off again, and one Pod got it": {
			before: plaintext, pods: []names.Ports{onPlaintext, onTLS},
			endpoint: plaintext, ports: []Port{plaintextPort, encryptedPort},
		},
		"TLS is switched off, and one Pod still has it": {
			before: encrypted, pods: []names.Ports{onPlaintext, onTLS},
			endpoint: encrypted, ports: []Port{plaintextPort, encryptedPort},
		},
		"TLS is switched off, and no Pod has it any more": {
			before: encrypted, pods: []names.Ports{onPlaintext}, endpoint: plaintext, ports: []Port{plaintextPort},
		},
		"plaintext in addition to TLS is closed, and one Pod still has it": {
			tls: tls, before: encrypted, pods: []names.Ports{onBoth, onTLS},
			endpoint: encrypted, ports: []Port{encryptedPort, plaintextPort},
		},
		"plaintext in addition to TLS is opened, and no Pod has it yet": {
			tls: both, before: encrypted, pods: []names.Ports{onTLS},
			endpoint: encrypted, ports: []Port{encryptedPort, plaintextPort},
		},
		"TLS in addition to plaintext is switched on immediately": {
			tls: both, before: plaintext, pods: []names.Ports{onPlaintext, onBoth},
			endpoint: plaintext, ports: []Port{encryptedPort, plaintextPort},
		},
		"TLS is switched on, and the only Pod was replaced while the cache was suspended": {
			tls: tls, before: plaintext, pods: []names.Ports{onTLS}, suspended: true,
			endpoint: encrypted, ports: []Port{encryptedPort},
		},
		"TLS is switched off while the cache is suspended, and its Pods have it": {
			before: encrypted, pods: []names.Ports{onTLS}, suspended: true,
			endpoint: encrypted, ports: []Port{plaintextPort, encryptedPort},
		},
		"TLS is switched off while the cache is suspended, and it has no Pod": {
			before: encrypted, suspended: true, endpoint: encrypted, ports: []Port{plaintextPort},
		},
		"the endpoint is one that no Pod listens on": {
			before: encrypted, tls: both, pods: []names.Ports{onPlaintext},
			endpoint: plaintext, ports: []Port{encryptedPort, plaintextPort},
		},
		"the size is zero": {tls: tls, before: plaintext, endpoint: encrypted, ports: []Port{encryptedPort}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			mc := memcachedWith(cachev1.MemcachedSpec{TLS: tc.tls, Suspend: tc.suspended})
			mc.Status.Endpoint = tc.before
			current := Current{SecretsUsable: true, Pods: tc.pods, OpenPorts: tc.terminating}
			for _, ports := range tc.pods {
				current.OpenPorts |= ports
			}
			p, err := computed(mc, current, defaults)
			if err != nil {
				t.Fatal(err)
			}
			if p.Endpoint != tc.endpoint {
				t.Errorf("endpoint %s, want %s", p.Endpoint, tc.endpoint)
			}
			if diff := cmp.Diff(tc.ports, p.ServicePorts); diff != "" {
				t.Errorf("ports (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPortStaysOpenUntilTheDeploymentHasSettled(t *testing.T) {
	mc := memcachedWith(cachev1.MemcachedSpec{})
	current := currently(deployedBy(t, mc, defaults))
	current.ServicePorts, current.OpenPorts = onBoth, onPlaintext
	for _, generation := range []int64{2, 1} {
		current.Deployment.Generation, current.Deployment.Status.ObservedGeneration = generation, 1
		p, err := computed(mc, current, defaults)
		if open := len(p.ServicePorts) == 2; err != nil || open != (generation == 2) {
			t.Errorf("generation %d, of which 1 is observed: ports %v, %v", generation, p.ServicePorts, err)
		}
	}
}

func TestMetricsStayOpenAsLongAsAPodServesThem(t *testing.T) {
	mc := memcachedWith(cachev1.MemcachedSpec{Metrics: &cachev1.Metrics{Mode: cachev1.MetricsDisabled}})
	for ports, want := range map[names.Ports]bool{onPlaintext: true, names.PlaintextPort: false} {
		p, err := computed(mc, Current{SecretsUsable: true, OpenPorts: ports}, defaults)
		if err != nil || p.AgentMetrics != want {
			t.Errorf("with Pods on %b: open %v, %v", ports, p.AgentMetrics, err)
		}
	}
}
