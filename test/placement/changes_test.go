//go:build e2e

package placement

import (
	"testing"

	"github.com/example-inc/memcached-operator/scripts/cluster/local"
)

func TestPlacementFollowsChanges(t *testing.T) {
	tests := map[string]struct {
		test
		change func(w *world)
		then   places
		says   string
	}{
		"a machine of the architecture is added": {
			test: test{
				machines: all("amd64"), spec: `{"size":2,"placement":{"architectures":["s390x"]}}`,
				want: places{nowhere: 2}, says: "no Node has the architecture s390x; available: amd64 (1)",
			},
			change: func(w *world) { w.add(one("s390x")) },
			then:   places{"s390x": 2}, says: "2 of 2 Pods ready",
		},
		"an architecture is taken out of the spec while nodes run on it": {
			test: test{
				machines: all("amd64", "arm64"),
				spec:     `{"size":4,"placement":{"architectures":["amd64","arm64"],` + spread + `}}`,
				want:     places{"amd64": 2, "arm64": 2}, says: "4 of 4 Pods ready",
			},
			change: func(w *world) { w.change(`{"placement":{"architectures":["amd64"]}}`) },
			then:   places{"amd64": 4}, says: "4 of 4 Pods ready",
		},
		"an architecture that machines have is added to the spec": {
			test: test{
				machines: all("amd64"), spec: `{"size":2,"placement":{"architectures":["s390x"]}}`,
				want: places{nowhere: 2}, says: "no Node has the architecture s390x; available: amd64 (1)",
			},
			change: func(w *world) { w.change(`{"placement":{"architectures":["s390x","amd64"]}}`) },
			then:   places{"amd64": 2}, says: "2 of 2 Pods ready",
		},
		"a rollout to an architecture that no Node has keeps the old Pods": {
			test: test{
				machines: all("amd64"), spec: `{"size":2,"placement":{"architectures":["amd64"]}}`,
				want: places{"amd64": 2}, says: "2 of 2 Pods ready",
			},
			change: func(w *world) { w.change(`{"placement":{"architectures":["arm64"]}}`) },
			then:   places{"amd64": 2, nowhere: 1}, says: "2 of 2 Pods ready; 1 Pod: cannot be scheduled: no Node has the " +
				"architecture arm64; available: amd64 (1)",
		},
		"the preference changes": {
			test: test{
				machines: all("amd64", "arm64"), says: "1 of 1 Pods ready", want: places{"arm64": 1},
				spec: `{"size":1,"placement":{"preferredArchitectures":[{"architecture":"arm64","weight":50}]}}`,
			},
			change: func(w *world) {
				w.change(`{"placement":{"preferredArchitectures":[{"architecture":"amd64","weight":50}]}}`)
			},
			then: places{"amd64": 1}, says: "1 of 1 Pods ready",
		},
		"a Node is deleted, and its Pod moves to another architecture": {
			test: test{
				machines: all("arm64", "ppc64le"), says: "1 of 1 Pods ready", want: places{"arm64": 1},
				spec: `{"size":1,"placement":{"preferredArchitectures":[{"architecture":"arm64","weight":50}]}}`,
			},
			change: func(w *world) { w.remove("arm64") },
			then:   places{"ppc64le": 1}, says: "1 of 1 Pods ready",
		},
		"the last machine of the architecture goes": {
			test: test{
				machines: all("amd64", "s390x"), spec: `{"size":1,"placement":{"architectures":["s390x"]}}`,
				want: places{"s390x": 1}, says: "1 of 1 Pods ready",
			},
			change: func(w *world) { w.remove("s390x") },
			then:   places{nowhere: 1}, says: "no Node has the architecture s390x; available: amd64 (1)",
		},
		"a second machine is added, and the cache grows onto it": {
			test: test{
				machines: []local.Node{one("amd64")}, spec: `{"size":1,"placement":{` + spread + `}}`,
				want: places{"amd64": 1}, says: "1 of 1 Pods ready",
			},
			change: func(w *world) { w.add(one("arm64")); w.change(`{"size":2}`) },
			then:   places{"amd64": 1, "arm64": 1}, says: "2 of 2 Pods ready",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tc.test)
			w.create(tc.spec)
			w.settles(tc.want, tc.test.says)
			tc.change(w)
			w.settles(tc.then, tc.says)
		})
	}
}
