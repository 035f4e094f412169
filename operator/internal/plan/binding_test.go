package plan

import (
	"cmp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/secrets/users"
)

func TestABindingHasWhatClientsNeed(t *testing.T) {
	bound := Bound{User: users.User{Name: "ann", Password: "secret"}, CA: "PEM", Versions: "auth=1"}
	tests := map[string]struct {
		spec     cachev1.MemcachedSpec
		pods     []names.Ports
		unusable bool
		want     Binding
	}{
		"of a cache with TLS": {
			spec: cachev1.MemcachedSpec{TLS: &cachev1.TLS{SecretName: "tls"}},
			want: Binding{Port: "11212", Endpoints: []string{"cache.team.svc:11212"}, Bound: Bound{CA: "PEM"}},
		},
		"while a Pod has no TLS yet": {
			spec: cachev1.MemcachedSpec{TLS: &cachev1.TLS{SecretName: "tls"}},
			pods: []names.Ports{names.PlaintextPort},
			want: Binding{Endpoints: []string{"cache.team.svc:11211"}},
		},
		"of a cache": {want: Binding{Endpoints: []string{"cache.team.svc:11211"}}},
		"of a cache with slots and discovery": {
			spec: cachev1.MemcachedSpec{Size: new(int32(2)), Slots: &cachev1.Slots{}, Discovery: &cachev1.Discovery{}},
			want: Binding{
				Endpoints: []string{"cache-0.cache-slots.team.svc:11211", "cache-1.cache-slots.team.svc:11211"},
				Discovery: "cache-discovery.team.svc:11211",
			},
		},
		"of a cache without a slot": {
			spec: cachev1.MemcachedSpec{Size: new(int32(0)), Slots: &cachev1.Slots{}},
			want: Binding{Endpoints: []string{"cache.team.svc:11211"}},
		},
		"while a Secret cannot be used": {unusable: true, want: Binding{Kept: true, Endpoints: []string{"cache.team.svc:11211"}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.spec.Binding = &cachev1.Binding{SecretName: "shop"}
			draft, err := Resolve(memcachedWith(tc.spec), Current{
				SecretsUsable: !tc.unusable, Bound: bound, Pods: tc.pods, OpenPorts: names.PlaintextPort | names.EncryptedPort,
			}, defaults)
			if err != nil {
				t.Fatal(err)
			}
			p, _ := Of(draft.Outcome("hash"))
			tc.want.SecretName, tc.want.Host, tc.want.Port = "shop", "cache.team.svc", cmp.Or(tc.want.Port, "11211")
			tc.want.User, tc.want.Versions = bound.User, bound.Versions
			if diff := gocmp.Diff(&tc.want, p.Binding); diff != "" {
				t.Errorf("binding (-want +got):\n%s", diff)
			}
		})
	}
}

func TestABindingIsRefusedWithTheFix(t *testing.T) {
	spec := cachev1.MemcachedSpec{
		Binding: &cachev1.Binding{SecretName: "shop"},
		TLS:     &cachev1.TLS{SecretName: "shop"}, Auth: &cachev1.Auth{SecretName: "shop"},
	}
	without := defaults
	without.MissingBindingRights = []string{"create secrets"}
	draft, err := Resolve(memcachedWith(spec), Current{}, without)
	if err != nil {
		t.Fatal(err)
	}
	invalid, _ := draft.Outcome("").(Invalid)
	for _, want := range []string{
		"spec.binding needs rights that this operator was installed without (create secrets): install it with the component " +
			"overlays/components/binding or the chart's value rbac.binding=true, or remove spec.binding",
		`spec.binding.secretName "shop" is also spec.tls.secretName, and `, `"shop" is also spec.auth.secretName, and `,
	} {
		if !strings.Contains(invalid.Message(), want) {
			t.Errorf("%q is not in %q", want, invalid.Message())
		}
	}
}
