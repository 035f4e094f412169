package plan

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

func TestACertificateHasTheNamesThatClientsUse(t *testing.T) {
	tests := map[string]struct {
		spec  cachev1.MemcachedSpec
		names []string // without those of the domain cluster.local
	}{
		"of the cache": {cachev1.MemcachedSpec{}, []string{"cache.team.svc"}},
		"of discovery": {cachev1.MemcachedSpec{Discovery: &cachev1.Discovery{}}, []string{"cache.team.svc", "cache-discovery.team.svc"}},
		"of slots":     {cachev1.MemcachedSpec{Slots: &cachev1.Slots{}}, []string{"cache.team.svc", "*.cache-slots.team.svc"}},
		"of each slot": {cachev1.MemcachedSpec{Slots: &cachev1.Slots{Mode: cachev1.SlotsClusterIP}, Size: new(int32(2))}, []string{
			"cache.team.svc", "*.cache-slots.team.svc", "cache-0.team.svc", "cache-1.team.svc",
		}},
		"of each slot that the operator may add": {cachev1.MemcachedSpec{
			Slots:       &cachev1.Slots{Mode: cachev1.SlotsClusterIP, ClientHash: cachev1.HashKetama},
			Autoscaling: &cachev1.Autoscaling{Size: &cachev1.SizeAutoscaling{Mode: cachev1.AutoscalingAct, Min: 1, Max: 3}},
		}, []string{
			"cache.team.svc", "*.cache-slots.team.svc", "cache-0.team.svc", "cache-1.team.svc", "cache-2.team.svc",
		}},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			tc.spec.TLS = &cachev1.TLS{IssuerRef: &cachev1.IssuerRef{Name: "ca"}}
			p, _ := Of(undisturbed(t, memcachedWith(tc.spec), Current{SecretsUsable: true}, defaults))
			var want []string
			for _, name := range tc.names {
				want = append(want, name, name+".cluster.local")
			}
			if diff := cmp.Diff(want, p.Certificate.Spec.DNSNames); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}

func TestACertificateHasTheNamesOfSlotsThatClientsStillHave(t *testing.T) {
	mc := memcachedWith(cachev1.MemcachedSpec{
		Size: new(int32(1)), Slots: &cachev1.Slots{Mode: cachev1.SlotsClusterIP},
		TLS: &cachev1.TLS{IssuerRef: &cachev1.IssuerRef{Name: "ca"}},
	})
	draft, err := Resolve(mc, Current{SecretsUsable: true}, defaults)
	if err != nil {
		t.Fatal(err)
	}
	planned := draft.plan(decisions{size: 1, slots: &Slots{Services: true, Decision: slots.Decision{Listed: 3}}})
	names := planned.Certificate.Spec.DNSNames
	if last := "cache-2.team.svc"; !slices.Contains(names, last) {
		t.Errorf("%s is not one of %v", last, names)
	}
}

func TestNoCertificateOverwritesTheSecretOfOthers(t *testing.T) {
	mc := memcachedWith(cachev1.MemcachedSpec{TLS: &cachev1.TLS{IssuerRef: &cachev1.IssuerRef{Name: "ca"}}})
	for _, unowned := range []bool{false, true} {
		p, _ := Of(undisturbed(t, mc, Current{SecretsUsable: true, UnownedSecret: unowned}, defaults))
		if withheld := p.Certificate.Withheld != ""; withheld != unowned {
			t.Errorf("unowned: %t, withheld: %t", unowned, withheld)
		}
	}
}
