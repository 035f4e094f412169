package model

import (
	"fmt"
	"strings"
	"testing"
)

// deployed is the Deployment that the operator applies for a spec with these values, and with the defaults for all
// others.
func deployed(replicas int, rolling, image, arguments string) string {
	return owned("Deployment", fmt.Sprintf("spec: {replicas: %d, strategy: {rollingUpdate: {%s}}, "+
		"selector: {matchLabels: {app: memcached, memcached_cr: a}}, template: {spec: {terminationGracePeriodSeconds: 45, "+
		"containers: [{name: memcached, image: %q, args: [--port=11211, %s]}]}}}", replicas, rolling, image, arguments))
}

const (
	rolling   = "maxSurge: 1, maxUnavailable: 0"
	arguments = "--memory-limit=64, --threads=4, --max-item-size=1048576"
)

func TestWhatIsAppliedHasTheValuesOfTheSpec(t *testing.T) {
	budget := func(maxUnavailable string) string {
		return owned("PodDisruptionBudget", "spec: {maxUnavailable: "+maxUnavailable+"}")
	}
	policy := func(from string) string {
		return owned("NetworkPolicy", "spec: {ingress: [{"+from+"}, {}]}")
	}
	placed := func(pod, resources string) string {
		return strings.NewReplacer("template: {spec: {", "template: {spec: {"+pod,
			"name: memcached,", "name: memcached, resources: {"+resources+"},").Replace(deployed(1, rolling, "i", arguments))
	}
	withSlots := func(grace int) string {
		return strings.Replace(deployed(1, rolling, "i", arguments), "terminationGracePeriodSeconds: 45",
			fmt.Sprintf("readinessGates: [{conditionType: %s}], terminationGracePeriodSeconds: %d", hasSlot, grace), 1)
	}
	admitted := func(labels string) string {
		const own = "{podSelector: {matchLabels: {app: memcached, memcached_cr: a}}}"
		return "from: [{podSelector: {}}, " + own + ", {podSelector: {matchLabels: {" + labels + "}}}]"
	}
	const from = "spec: {networkPolicy: {from: [{podSelector: {}}]}, slots: {}, bootstrap: {from: "
	const restored, movedIn = from + "{snapshot: {name: nightly, url: 's3://a'}}}}", from + "{servers: ['a:11211']}}}"
	ruleTest{
		rule: "fields",
		keeps: map[string]func(*recorded){
			"the defaults": func(s *recorded) { s.user(mc("")).operator(deployed(1, rolling, "i", arguments)) },
			"other values": func(s *recorded) {
				s.user(mc("spec: {size: 3, image: j, memory: 1Gi, threads: 2, rollout: {maxUnavailable: 25%}}"))
				s.operator(deployed(3, "maxSurge: 1, maxUnavailable: 25%", "j",
					"--memory-limit=1024, --threads=2, --max-item-size=1048576"))
			},
			"a default that is written out": func(s *recorded) {
				s.user(mc("spec: {placement: {schedulerName: default-scheduler}}")).operator(deployed(1, rolling, "i", arguments))
			},
			"a spec that was in force when the operator read it": func(s *recorded) {
				s.user(mc("spec: {size: 3}"), mc("spec: {size: 4}")).operator(deployed(3, rolling, "i", arguments))
			},
			"resources, a toleration and a node selector": func(s *recorded) {
				s.user(mc("spec: {resources: {limits: {memory: 1024Mi}}, placement: {nodeSelector: {disk: ssd}, " +
					"tolerations: [{key: a, operator: Equal}]}}"))
				s.operator(placed("nodeSelector: {disk: ssd}, tolerations: [{key: a}], ", "limits: {memory: 1Gi}"))
			},
			"slots, and Pods that wait for the next ones": func(s *recorded) {
				s.user(mc("spec: {slots: {handoff: {timeoutSeconds: 100}}, terminationDelaySeconds: 10}"))
				s.operator(withSlots(140))
			},
			"fewer Pods, as one slot after another is added": func(s *recorded) {
				s.user(mc("spec: {size: 3, slots: {clientHash: Ketama}, terminationDelaySeconds: 10}")).operator(withSlots(640))
			},
			"slots without a handoff, as a change of the mode replaces no Pod": func(s *recorded) {
				s.user(mc("spec: {slots: {handoff: {mode: Never}}}")).operator(withSlots(660))
			},
			"clients": func(s *recorded) {
				s.user(mc("spec: {networkPolicy: {from: [{podSelector: {}}]}}")).operator(policy("from: [{podSelector: {}}]"))
			},
			"clients, and the Job of a snapshot": func(s *recorded) {
				s.user(mc(restored)).operator(policy(admitted("cache.example.com/snapshot: a")))
			},
			"clients, and the Pod of a bootstrap from servers": func(s *recorded) {
				s.user(mc(movedIn)).operator(policy(admitted("app: memcached, memcached_cr: a_bootstrap")))
			},
			"a budget": func(s *recorded) {
				s.user(mc("spec: {size: 2, disruption: {maxUnavailable: 10%}}")).operator(budget("10%"))
			},
		},
		breaks: map[string]func(*recorded){
			"Pods with slots that wait for nobody": func(s *recorded) { s.user(mc("spec: {slots: {}}")).operator(withSlots(60)) },
			"fewer Pods with slots that are all added": func(s *recorded) {
				s.user(mc("spec: {size: 3, slots: {}, terminationDelaySeconds: 10}")).operator(withSlots(640))
			},
			"another size": func(s *recorded) { s.user(mc("")).operator(deployed(2, rolling, "i", arguments)) },
			"another strategy": func(s *recorded) {
				s.user(mc("")).operator(deployed(1, "maxSurge: 1, maxUnavailable: 1", "i", arguments))
			},
			"another image": func(s *recorded) { s.user(mc("spec: {image: j}")).operator(deployed(1, rolling, "i", arguments)) },
			"another argument": func(s *recorded) {
				s.user(mc("spec: {memory: 65Mi}")).operator(deployed(1, rolling, "i", arguments))
			},
			"a spec that was no longer in force when the operator started": func(s *recorded) {
				s.user(mc("spec: {size: 3}"), mc("spec: {size: 4}")).restart().operator(deployed(3, rolling, "i", arguments))
			},
			"a spec that was no longer in force when the operator wrote the status": func(s *recorded) {
				s.user(mc("spec: {size: 3}"), mc("spec: {size: 4}")).reports(mc("spec: {size: 4}"))
				s.operator(deployed(3, rolling, "i", arguments))
			},
			"values of two specs": func(s *recorded) {
				s.user(mc("spec: {size: 3}"), mc("spec: {size: 4, memory: 65Mi}")).operator(deployed(4, rolling, "i", arguments))
			},
			"other resources": func(s *recorded) {
				s.user(mc("spec: {resources: {limits: {memory: 1Gi}}}")).operator(placed("", "limits: {memory: 2Gi}"))
			},
			"another toleration": func(s *recorded) { s.user(mc("")).operator(placed("tolerations: [{key: a}], ", "")) },
			"another node selector": func(s *recorded) {
				s.user(mc("spec: {placement: {nodeSelector: {disk: ssd}}}")).operator(placed("", ""))
			},
			"all clients": func(s *recorded) {
				s.user(mc("spec: {networkPolicy: {from: [{podSelector: {}}]}}")).operator(policy(""))
			},
			"the Pod of a bootstrap from servers, in place of the Job of a snapshot": func(s *recorded) {
				s.user(mc(restored)).operator(policy(admitted("app: memcached, memcached_cr: a_bootstrap")))
			},
			"no clients":     func(s *recorded) { s.user(mc("")).operator(owned("NetworkPolicy", "spec: {ingress: []}")) },
			"another budget": func(s *recorded) { s.user(mc("spec: {size: 2}")).operator(budget("2")) },
		},
	}.run(t)
}
