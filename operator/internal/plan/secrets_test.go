package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// TestOnlyThePodTemplateWaitsForASecret: the parts of the plan that do not depend on the Secret are planned as usual.
func TestOnlyThePodTemplateWaitsForASecret(t *testing.T) {
	plain := cachev1.MemcachedSpec{}
	tls := cachev1.MemcachedSpec{TLS: &cachev1.TLS{SecretName: "tls"}}
	grown := cachev1.MemcachedSpec{TLS: tls.TLS, Threads: new(int32(9)), Size: new(int32(5))}
	for name, tc := range map[string]struct {
		before *cachev1.MemcachedSpec
		now    cachev1.MemcachedSpec
		want   TemplateChange
	}{
		"a new cache has no Deployment":                      {now: tls, want: NoTemplate},
		"a running cache keeps its template":                 {before: &plain, now: tls, want: KeepTemplate},
		"a template that runs with the Secret is as it was":  {before: &tls, now: tls, want: RenderTemplate},
		"a template that would replace the Pods waits, too":  {before: &tls, now: grown, want: KeepTemplate},
		"a cache that does without the Secret waits no more": {before: &tls, now: tls, want: RenderTemplate},
	} {
		t.Run(name, func(t *testing.T) {
			mc, current := memcachedWith(tc.now), Current{}
			var before Record
			if tc.before != nil {
				former := memcachedWith(*tc.before)
				current.Deployment = deployedBy(t, former, defaults)
				mc.Status = former.Status
				before, _ = decodeRecord(mc.Status.TemplateInputs)
			}
			p, err := computed(mc, current, defaults)
			if err != nil {
				t.Fatal(err)
			}
			if p.Template != tc.want || p.Size != orDefault(tc.now.Size, 1) || p.NetworkPolicy == nil {
				t.Errorf("template %d, want %d; size %d, NetworkPolicy %v", p.Template, tc.want, p.Size, p.NetworkPolicy)
			}
			if tc.want == KeepTemplate && len(p.Pending) > 0 {
				t.Errorf("%v waits, though the operator is the same", p.Pending)
			}
			if diff := cmp.Diff(before, p.Record); tc.want == KeepTemplate && diff != "" {
				t.Errorf("the record has another template than the kept one (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAnUpdateThatIsNotAppliedIsPending: while a Secret is missing, and while the cache is suspended.
func TestAnUpdateThatIsNotAppliedIsPending(t *testing.T) {
	for name, change := range map[string]func(*cachev1.Memcached, *Current){
		"a Secret is missing":    func(_ *cachev1.Memcached, current *Current) { current.SecretsUsable = false },
		"the cache is suspended": func(mc *cachev1.Memcached, _ *Current) { mc.Spec.Suspend = true },
	} {
		mc := memcachedWith(cachev1.MemcachedSpec{})
		current := currently(deployedBy(t, mc, defaults))
		mc.Annotations = map[string]string{cachev1.AnnotationUpdateRequested: "now"}
		change(mc, &current)
		p, err := computed(mc, current, newer)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(everythingWaits, p.Pending); diff != "" {
			t.Errorf("%s: what waits (-want +got):\n%s", name, diff)
		}
	}
}
