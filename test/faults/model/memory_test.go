package model

import (
	"fmt"
	"testing"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

// sizedPod is a Pod that was started with 64 MiB, and what its memcached is instructed to have, 0 is nothing, and what
// its container is to have and has, in MiB.
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
				s.by("kwok", sizedPod(0, 90, 90)).operator(sizedPod(0, 160, 90)).by("kwok", sizedPod(0, 160, 160))
				s.operator(sizedPod(128, 160, 160))
			},
			"shrinking, memcached does": func(s *recorded) {
				s.by("kwok", sizedPod(128, 160, 160)).operator(sizedPod(64, 160, 160), sizedPod(64, 90, 160))
			},
			"another client takes memory away": func(s *recorded) { s.by("kwok", sizedPod(128, 160, 160)).user(sizedPod(128, 90, 160)) },
			"or gives memcached too much":      func(s *recorded) { s.by("kwok", sizedPod(64, 90, 90)).user(sizedPod(128, 90, 90)) },
		},
		breaks: map[string]func(*recorded){
			"memcached grows before its container": func(s *recorded) {
				s.by("kwok", sizedPod(0, 90, 90)).operator(sizedPod(0, 160, 90), sizedPod(128, 160, 90))
			},
			"memcached grows while its container is to shrink": func(s *recorded) {
				s.by("kwok", sizedPod(0, 160, 160)).operator(sizedPod(0, 90, 160), sizedPod(128, 90, 160))
			},
			"the container shrinks before memcached": func(s *recorded) {
				s.by("kwok", sizedPod(128, 160, 160)).operator(sizedPod(128, 90, 160))
			},
			"and before one that is as it was started": func(s *recorded) {
				s.by("kwok", sizedPod(0, 160, 160)).operator(sizedPod(0, 60, 160))
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
			"it is given":             ready("128Mi", "Resize", sizedPod(128, 160, 160)),
			"they were started with":  ready("64Mi", "Resize", sizedPod(0, 90, 90)),
			"in whole mebibytes":      ready("131073Ki", "Resize", sizedPod(128, 160, 160)),
			"another mode is no case": ready("128Mi", "Replace", sizedPod(0, 90, 90)),
		},
		breaks: map[string]func(*recorded){
			"memcached has less":         ready("128Mi", "Resize", sizedPod(0, 160, 160)),
			"memcached has more":         ready("64Mi", "Resize", sizedPod(128, 160, 160)),
			"the container has not less": ready("64Mi", "Resize", sizedPod(64, 90, 160)),
		},
	}.run(t)
}
