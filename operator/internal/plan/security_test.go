package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/memcached"
)

func TestTheEndpointIsThatOfTLSWhereThereIsTLS(t *testing.T) {
	tests := map[string]struct {
		tls      *cachev1.TLS
		endpoint string
		ports    []Port
	}{
		"plaintext":         {nil, "cache.team.svc:11211", []Port{{"memcached", 11211}}},
		"TLS":               {&cachev1.TLS{}, "cache.team.svc:11212", []Port{{"memcached-tls", 11212}}},
		"TLS and plaintext": {&cachev1.TLS{Plaintext: cachev1.PlaintextEnabled}, "cache.team.svc:11212", []Port{{"memcached-tls", 11212}, {"memcached", 11211}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := computed(memcachedWith(cachev1.MemcachedSpec{TLS: tc.tls}), nothing, defaults)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.ports, p.ClientPorts()); diff != "" || p.Endpoint != tc.endpoint {
				t.Errorf("endpoint %s; ports (-want +got):\n%s", p.Endpoint, diff)
			}
		})
	}
}

func TestWhatMemcachedAsksOfCertificates(t *testing.T) {
	for clientAuth, want := range map[cachev1.ClientAuth]memcached.TLS{
		"":                        {},
		cachev1.ClientAuthNone:    {},
		cachev1.ClientAuthRequest: {ClientCA: "/etc/memcached/tls/ca.crt"},
		cachev1.ClientAuthRequire: {ClientCA: "/etc/memcached/tls/ca.crt", Require: true},
	} {
		p, err := computed(memcachedWith(cachev1.MemcachedSpec{TLS: &cachev1.TLS{ClientAuth: clientAuth}}), nothing, defaults)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Memcached.TLS; got.ClientCA != want.ClientCA || got.Require != want.Require {
			t.Errorf("clientAuth %q: %+v", clientAuth, got)
		}
	}
}
