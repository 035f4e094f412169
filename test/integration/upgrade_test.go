package integration

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// triggers are the ways to apply the pending update.
var triggers = map[string]func(w *world, name string){
	"changed":   func(w *world, name string) { w.patch(&cachev1.Memcached{}, name, `{"spec":{"threads":2}}`) },
	"requested": func(w *world, name string) { w.request(name, "now") },
	"automatic": func(w *world, name string) {
		w.patch(&cachev1.Memcached{}, name, `{"spec":{"updatePolicy":"Automatic"}}`)
	},
}

func TestAnUpgradeOfTheOperatorRollsNoCacheUntilItIsApplied(t *testing.T) {
	const one, two = "registry.example.com/memcached:one", "registry.example.com/memcached:two"
	tests := map[string]struct {
		older, newer release
		waits        string
	}{
		"another image":             {release{image: one}, release{image: two}, "image " + one + " -> " + two},
		"another agent":             {release{agent: one}, release{agent: two}, "agent image " + one + " -> " + two},
		"more architectures":        {release{architectures: "amd64"}, release{architectures: "amd64,arm64"}, "architectures amd64 -> amd64, arm64"},
		"fewer architectures":       {release{}, release{architectures: "s390x"}, "architectures any -> s390x"},
		"OpenShift is recognised":   {release{}, release{clusterIs: openShift}, "platform Kubernetes -> OpenShift"},
		"OpenShift is no longer it": {release{clusterIs: openShift}, release{}, "platform OpenShift -> Kubernetes"},
		"a new Pod template":        {release{}, release{revision: true}, "template revision 1 -> 2"},
		"all of it in one step": {
			release{image: one, agent: two, architectures: "amd64"},
			release{image: two, agent: one, architectures: "arm64", clusterIs: openShift, revision: true},
			"image " + one + " -> " + two + "; agent image " + two + " -> " + one + "; architectures amd64 -> arm64; platform Kubernetes -> OpenShift; template revision 1 -> 2",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w, at := newUpgradeWorld(t)
			tc.older.start(w, at)
			for name := range triggers {
				w.memcached(name, 2)
			}
			before := map[string][]types.UID{}
			for name := range triggers {
				w.ready(name)
				before[name] = w.uids(name)
			}
			spent := len(w.quiet())

			tc.newer.start(w, at)
			for name := range triggers {
				w.waits(name, tc.waits)
			}
			want := []string{"patch memcacheds/status", "patch memcacheds/status", "patch memcacheds/status"}
			if diff := cmp.Diff(want, w.quiet()[spent:]); diff != "" {
				t.Errorf("requests of the new operator (-want +got):\n%s", diff)
			}
			for name := range triggers {
				w.patch(&cachev1.Memcached{}, name, `{"spec":{"size":3,"rollout":{"minReadySeconds":0}}}`)
				w.ready(name)
				w.waits(name, tc.waits)
				w.Expect(w.uids(name)).To(gomega.ContainElements(before[name]), "scaling replaces no Pod")
				w.Expect(w.rollouts(name)).To(gomega.Equal(1))
			}
			spent = len(w.quiet())

			for name, trigger := range triggers {
				trigger(w, name)
				w.waits(name, "")
				w.ready(name)
				w.Eventually(func() []types.UID { return w.uids(name) }).Should(gomega.HaveLen(3))
				w.Expect(w.uids(name)).NotTo(gomega.ContainElements(before[name]), "each Pod is replaced")
			}
			if writes := count(w.quiet()[spent:], "patch deployments"); writes != len(triggers) {
				t.Errorf("%d writes of Deployments for %d triggers", writes, len(triggers))
			}
			for name := range triggers {
				w.Expect(w.rollouts(name)).To(gomega.Equal(2), fmt.Sprintf("%s rolls once", name))
			}
		})
	}
}
