package model

import (
	"fmt"
	"testing"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

// sizedPod is a Pod that was started with 64 MiB. The arguments are in MiB: the memory in the instruction for its
// memcached (0 for no instruction), the limit in the spec of its container, and the limit in the status.
func sizedPod(given, shall, has int) string {
	return fmt.Sprintf(`{kind: Pod, metadata: {name: p, uid: p, labels: {memcached_cr: a}, ownerReferences: [{kind: ReplicaSet, name: s, `+
		`uid: s, controller: true}], annotations: {cache.example.com/handoff: '{"role":"serve","memory":%d}'}}, `+
		`spec: {containers: [{name: memcached, args: [--memory-limit=64], resources: {limits: {memory: %dMi}}}]}, `+
		`status: {containerStatuses: [{name: memcached, resources: {limits: {memory: %dMi}}}]}}`, given<<20, shall, has)
}

func TestMemcachedFitsIntoItsContainer(t *testing.T) {
	ruleTest{
		rule: "memcached fits into its container",
		keeps: map[string]func(*recorded){
			"growing, the container comes first": func(s *recorded) {
				s.by("kwok", sizedPod(0, 150, 150)).operator(sizedPod(0, 220, 150)).by("kwok", sizedPod(0, 220, 220))
				s.operator(sizedPod(128, 220, 220))
			},
			"shrinking, memcached does": func(s *recorded) {
				s.by("kwok", sizedPod(128, 220, 220)).operator(sizedPod(64, 220, 220), sizedPod(64, 150, 220))
			},
			"another client takes memory away": func(s *recorded) { s.by("kwok", sizedPod(128, 220, 220)).user(sizedPod(128, 150, 220)) },
			"or gives memcached too much":      func(s *recorded) { s.by("kwok", sizedPod(64, 150, 150)).user(sizedPod(128, 150, 150)) },
		},
		breaks: map[string]func(*recorded){
			"memcached grows before its container": func(s *recorded) {
				s.by("kwok", sizedPod(0, 150, 150)).operator(sizedPod(0, 220, 150), sizedPod(128, 220, 150))
			},
			"memcached grows while its container is to shrink": func(s *recorded) {
				s.by("kwok", sizedPod(0, 220, 220)).operator(sizedPod(0, 150, 220), sizedPod(128, 150, 220))
			},
			"its container has room for the items only": func(s *recorded) {
				s.by("kwok", sizedPod(0, 150, 150)).operator(sizedPod(0, 200, 150)).by("kwok", sizedPod(0, 200, 200))
				s.operator(sizedPod(128, 200, 200))
			},
			"the container shrinks before memcached": func(s *recorded) {
				s.by("kwok", sizedPod(128, 220, 220)).operator(sizedPod(128, 150, 220))
			},
			"and before one that is as it was started": func(s *recorded) {
				s.by("kwok", sizedPod(0, 220, 220)).operator(sizedPod(0, 60, 220))
			},
		},
	}.run(t)
}

func TestRunningPodsHaveTheMemoryOfTheSpec(t *testing.T) {
	ready := func(memory, change, pod string) func(*recorded) {
		return func(s *recorded) {
			spec := fmt.Sprintf("spec: {size: 1, memory: %s, slots: {}, rollout: {memoryChange: %s}}", memory, change)
			s.user(mc(spec), set).by("kwok", pod).reports(mc(fmt.Sprintf("%s, status: {observedGeneration: 1, conditions: [%s, %s]}",
				spec, condition("Ready", "True", "AllPodsReady"), condition("UpdatePending", "False", "UpToDate"))))
			s.step(history.PhaseReady)
		}
	}
	ruleTest{
		rule: "running Pods have the memory of the spec",
		keeps: map[string]func(*recorded){
			"it is given":             ready("128Mi", "Resize", sizedPod(128, 220, 220)),
			"they were started with":  ready("64Mi", "Resize", sizedPod(0, 150, 150)),
			"in whole mebibytes":      ready("131073Ki", "Resize", sizedPod(128, 220, 220)),
			"another mode is no case": ready("128Mi", "Replace", sizedPod(0, 150, 150)),
		},
		breaks: map[string]func(*recorded){
			"memcached has less":         ready("128Mi", "Resize", sizedPod(0, 220, 220)),
			"memcached has more":         ready("64Mi", "Resize", sizedPod(128, 220, 220)),
			"the container has not less": ready("64Mi", "Resize", sizedPod(64, 150, 220)),
		},
	}.run(t)
}
