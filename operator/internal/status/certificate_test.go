package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/secrets"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

func TestTheStatusReportsNamesThatTheCertificateDoesNotHave(t *testing.T) {
	const (
		incomplete = `The certificate in the Secret "tls" is missing names, and clients that verify names refuse it: `
		byDNS      = "cache-0.cache-slots.team.svc:11212"
		byDNS1     = "cache-1.cache-slots.team.svc:11212"
		byIP       = "cache-0.team.svc:11212"
		byIP1      = "cache-1.team.svc:11212"
		discovery  = "cache-discovery.team.svc"
		reload     = " to the DNS names of the certificate. The Pods load a new certificate without a restart. Missing: "
		ofCache    = "cache.team.svc"
	)
	certificate := func(names ...string) *secrets.State {
		return &secrets.State{Name: "tls", NotAfter: noon, DNSNames: names}
	}
	discovers := func(p *plan.Plan) { p.Discovery = &plan.Discovery{Endpoint: discovery + ":11212"} }
	tests := map[string]struct {
		secret    *secrets.State
		addresses []string
		change    func(*plan.Plan)
		want      string // the message; empty if there is no warning
	}{
		"no certificate":                   {nil, []string{byDNS}, nil, ""},
		"no slots":                         {certificate(ofCache), nil, nil, ""},
		"a wildcard for all slots":         {certificate(ofCache, "*.cache-slots.team.svc"), []string{byDNS, byDNS1}, nil, ""},
		"each name of ClusterIP":           {certificate("cache-0.team.svc", "cache-1.team.svc"), []string{byIP, byIP1}, nil, ""},
		"a certificate that can't be used": {&secrets.State{Name: "tls", Problem: "malformed"}, []string{byDNS}, nil, ""},
		"a Secret that does not exist":     {&secrets.State{Name: "tls", Missing: true}, []string{byDNS}, nil, ""},
		"the name of discovery":            {certificate(ofCache, discovery), nil, discovers, ""},
		"not the name of discovery":        {certificate(ofCache), nil, discovers, incomplete + "add the missing names" + reload + discovery},
		"neither slots nor discovery": {certificate(ofCache), []string{byDNS}, discovers,
			incomplete + "add *.cache-slots.team.svc and " + discovery + reload + "cache-0.cache-slots.team.svc, " + discovery},
		"a new name, of an issuer": {certificate(ofCache), []string{byDNS},
			func(p *plan.Plan) { p.Certificate = &plan.Certificate{} },
			incomplete + `wait until cert-manager has issued the Certificate "cache" again. The Pods load a new certificate without a restart. ` +
				"Missing: cache-0.cache-slots.team.svc"},
		"only the name of the cache": {certificate(ofCache), []string{byDNS, byDNS1}, nil,
			incomplete + "add *.cache-slots.team.svc" + reload + "cache-0.cache-slots.team.svc, cache-1.cache-slots.team.svc"},
		"the name of one slot of two": {certificate("cache-0.cache-slots.team.svc"), []string{byDNS, byDNS1}, nil,
			incomplete + "add *.cache-slots.team.svc" + reload + "cache-1.cache-slots.team.svc"},
		"names for the other mode": {certificate("*.cache-slots.team.svc"), []string{byIP, byIP1}, nil,
			incomplete + "add the missing names" + reload + "cache-0.team.svc, cache-1.team.svc"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := rolledOut()
			in.Snapshot.TLS = tc.secret
			if tc.addresses != nil {
				in.Plan.Slots = &plan.Slots{}
			}
			for _, address := range tc.addresses {
				in.Plan.Slots.Slots = append(in.Plan.Slots.Slots, slots.Status{Name: "slot", Address: address})
			}
			if tc.change != nil {
				tc.change(&in.Plan)
			}
			now := Evaluate(in)
			var got string
			if found := meta.FindStatusCondition(now.Conditions, cachev1.ConditionCertificateIncomplete); found != nil {
				got = found.Message
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			if tc.want != "" && !meta.IsStatusConditionTrue(now.Conditions, cachev1.ConditionReady) {
				t.Error("the cache is not ready")
			}
			in.Memcached.Status = now
			if Differs(now, Evaluate(in)) {
				t.Error("the same status is written again")
			}
			in.Snapshot.TLS = certificate("*.cache-slots.team.svc", "*.team.svc")
			renewed := Evaluate(in)
			if meta.FindStatusCondition(renewed.Conditions, cachev1.ConditionCertificateIncomplete) != nil {
				t.Error("the warning stays although the certificate is renewed")
			}
		})
	}
}
