package model

import (
	"fmt"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
)

// slotPod is a Pod of a cache with slots, with the readiness of its agent and of its gate.
type slotPod struct {
	name, instruction     string
	agent, gate, finished bool
}

func (p slotPod) String() string {
	status := map[bool]string{true: "True", false: "False"}
	phase := map[bool]string{true: "Failed", false: "Running"}
	return fmt.Sprintf(`{kind: Pod, metadata: {name: %[1]s, uid: %[1]s, labels: {memcached_cr: a}, annotations: `+
		`{cache.example.com/handoff: '%[2]s'}}, spec: {readinessGates: [{conditionType: cache.example.com/has-slot}]}, `+
		`status: {phase: %[3]s, podIP: ip-%[1]s, initContainerStatuses: [{name: agent, ready: %[4]t}], `+
		`conditions: [{type: cache.example.com/has-slot, status: '%[5]s'}]}}`,
		p.name, p.instruction, phase[p.finished], p.agent, status[p.gate])
}

// instructed is an instruction for a slot.
func instructed(role, slot string) string {
	return fmt.Sprintf(`{"role":"%s","slot":"%s"}`, role, slot)
}

// record is the EndpointSlice with entries like a-0=p, or a-0=p! for an entry that is not ready.
func record(entries ...string) string {
	var list []string
	for _, entry := range entries {
		slot, pod, _ := strings.Cut(entry, "=")
		pod, unready := strings.CutSuffix(pod, "!")
		list = append(list, fmt.Sprintf("{hostname: %[1]s, addresses: [ip-%[2]s], targetRef: {uid: %[2]s}, "+
			"conditions: {ready: %[3]t}}", slot, pod, !unready))
	}
	return "{kind: EndpointSlice, metadata: {name: a-slots-ipv4, uid: record, ownerReferences: [{kind: Memcached, name: a, " +
		"uid: m, controller: true}]}, endpoints: [" + strings.Join(list, ", ") + "]}"
}

// served adds two slots, and the Pods that serve them.
func served(s *recorded) *recorded {
	s.user(mc("spec: {size: 2, slots: {mode: DNS}}"))
	for _, slot := range []string{"0", "1"} {
		s.by("kwok", slotPod{name: "p" + slot, instruction: instructed("serve", "a-"+slot), agent: true, gate: true}.String())
	}
	return s.operator(record("a-0=p0", "a-1=p1"))
}

func TestASlotHasOnePod(t *testing.T) {
	ended := slotPod{name: "p0", instruction: instructed("serve", "a-0")}.String()
	ruleTest{
		rule: "one Pod a slot",
		keeps: map[string]func(*recorded){
			"two slots": func(s *recorded) { served(s) },
			"a Pod that was deleted is remembered": func(s *recorded) {
				served(s).deletes("user", ended).restart().operator(record("a-0=p0!", "a-1=p1"))
			},
			"a third party repeats a slot": func(s *recorded) { served(s).user(record("a-0=p0", "a-0=p1")) },
		},
		breaks: map[string]func(*recorded){
			"a slot twice": func(s *recorded) { served(s).operator(record("a-0=p0", "a-0=p1")) },
			"a Pod twice":  func(s *recorded) { served(s).operator(record("a-0=p0", "a-1=p0")) },
			"an unknown Pod": func(s *recorded) {
				served(s).operator(record("a-0=other", "a-1=p1"))
			},
			"a Pod of another cache": func(s *recorded) {
				pod := strings.Replace(slotPod{name: "q"}.String(), "memcached_cr: a", "memcached_cr: b", 1)
				served(s).by("kwok", pod).operator(record("a-0=q", "a-1=p1"))
			},
			"a Pod that was deleted": func(s *recorded) {
				served(s).deletes("user", ended).restart().operator(record("a-0=p0", "a-1=p1"))
			},
			"another address": func(s *recorded) {
				wrong := strings.Replace(record("a-0=p0", "a-1=p1"), "ip-p0", "ip-other", 1)
				served(s).operator(wrong)
			},
		},
	}.run(t)
}

func TestASlotKeepsItsPod(t *testing.T) {
	ruleTest{
		rule: "no slot is empty while a Pod serves it",
		keeps: map[string]func(*recorded){
			"the cache gets smaller": func(s *recorded) {
				served(s).user(mc("spec: {size: 1, slots: {mode: DNS}}")).operator(record("a-0=p0"))
			},
			"the Pod ends": func(s *recorded) {
				served(s).by("kwok", slotPod{name: "p1", instruction: instructed("serve", "a-1"), finished: true}.String())
				s.operator(record("a-0=p0"))
			},
			"the Pod is deleted": func(s *recorded) {
				served(s).deletes("user", slotPod{name: "p1"}.String()).operator(record("a-0=p0"))
			},
			"the Pod gave the slot away": func(s *recorded) {
				served(s).operator(slotPod{name: "p1", instruction: instructed("leave", "a-1"), agent: true}.String())
				s.operator(record("a-0=p0"))
			},
			"a third party removes the entry": func(s *recorded) { served(s).user(record("a-0=p0")) },
		},
		breaks: map[string]func(*recorded){
			"the operator removes the entry": func(s *recorded) { served(s).operator(record("a-0=p0")) },
			"the operator removes all": func(s *recorded) {
				served(s).operator(record())
			},
			"the cache gets smaller by another slot": func(s *recorded) {
				served(s).user(mc("spec: {size: 1, slots: {mode: DNS}}")).operator(record("a-1=p1"))
			},
		},
	}.run(t)
}

func TestASlotMovesOnlyToAPodThatIsReadyForIt(t *testing.T) {
	next := func(role, slot string, agent bool) string {
		return slotPod{name: "q", instruction: instructed(role, slot), agent: agent}.String()
	}
	moved := record("a-0=q", "a-1=p1")
	copied := func(s *recorded) *recorded {
		return served(s).by("kwok", next("receive", "a-0", false), next("receive", "a-0", true))
	}
	ruleTest{
		rule: "a slot moves only to a Pod that was ready for it",
		keeps: map[string]func(*recorded){
			"all keys are copied":        func(s *recorded) { copied(s).operator(moved) },
			"a Pod without keys":         func(s *recorded) { served(s).by("kwok", next("cold", "a-0", true)).operator(moved) },
			"it takes back what it held": func(s *recorded) { copied(s).operator(moved).user(record("a-1=p1")).operator(moved) },
			"a third party moves it":     func(s *recorded) { served(s).by("kwok", next("receive", "a-0", false)).user(moved) },
		},
		breaks: map[string]func(*recorded){
			"the copy is in progress": func(s *recorded) {
				served(s).by("kwok", next("receive", "a-0", false)).operator(moved)
			},
			"the agent is still ready from before": func(s *recorded) {
				served(s).by("kwok", next("receive", "a-0", true)).operator(moved)
			},
			"no instruction":       func(s *recorded) { served(s).by("kwok", next("", "", true)).operator(moved) },
			"another slot":         func(s *recorded) { served(s).by("kwok", next("cold", "a-1", true)).operator(moved) },
			"it gave it away":      func(s *recorded) { served(s).by("kwok", next("leave", "a-0", true)).operator(moved) },
			"a Pod without a gate": func(s *recorded) { served(s).by("kwok", ofSet("q", "True")).operator(moved) },
		},
	}.run(t)
}

func TestObjectsOfSlotsAreDeletedWithTheSlots(t *testing.T) {
	service := func(name string) string {
		return strings.Replace(owned("Service", ""), "name: a, uid: Service", "name: "+name+", uid: "+name, 1)
	}
	gated := owned("Deployment", "spec: {template: {spec: {readinessGates: [{conditionType: cache.example.com/has-slot}]}}}")
	with := func(s *recorded, mode string) *recorded {
		return s.user(mc("spec: {size: 2, slots: {mode: " + mode + "}}")).operator(gated)
	}
	ruleTest{
		rule: "deletion",
		keeps: map[string]func(*recorded){
			"slots are turned off, and the Deployment that had them was deleted": func(s *recorded) {
				s.user(mc(`spec: {size: 2}, status: {templateInputs: '{"slots":true}'}`)).operator(service("a-slots"))
			},
			"slots are turned off, and the Pods have none any more": func(s *recorded) {
				with(s, "DNS").operator(service("a-slots")).user(mc("spec: {size: 2}")).operator(owned("Deployment", ""))
				s.deletes(operatorUser, service("a-slots"))
			},
			"a slot less": func(s *recorded) {
				with(s, "ClusterIP").operator(service("a-1")).user(mc("spec: {size: 1, slots: {mode: ClusterIP}}"))
				s.deletes(operatorUser, service("a-1"))
			},
		},
		breaks: map[string]func(*recorded){
			"slots are in use": func(s *recorded) {
				with(s, "DNS").operator(service("a-slots")).deletes(operatorUser, service("a-slots"))
			},
			"a slot is in use": func(s *recorded) {
				with(s, "ClusterIP").operator(service("a-1")).deletes(operatorUser, service("a-1"))
			},
			"a slot too much": func(s *recorded) { with(s, "ClusterIP").operator(service("a-2")) },
			"without slots":   func(s *recorded) { s.user(mc("spec: {size: 2}")).operator(service("a-slots")) },
		},
	}.run(t)
}

func TestTheOperatorChangesOnlyWhatIsOfSlotsInAPod(t *testing.T) {
	body := func(content string) *audit.Request {
		q := &audit.Request{Verb: "patch", Body: []byte(content)}
		q.ObjectRef.Resource, q.Response.Code = "pods", 200
		return q
	}
	status := func(content string) *audit.Request {
		q := body(content)
		q.ObjectRef.Subresource = "status"
		return q
	}
	forbidden := body("")
	forbidden.Response.Code = 403
	tests := map[string]struct {
		request *audit.Request
		want    bool
	}{
		"the instruction":       {body(`{"metadata":{"uid":"p","annotations":{"cache.example.com/handoff":"{}"}}}`), true},
		"another annotation":    {body(`{"metadata":{"annotations":{"other":"{}"}}}`), false},
		"a label":               {body(`{"metadata":{"labels":{"app":"other"}}}`), false},
		"the specification":     {body(`{"spec":{}}`), false},
		"no known content":      {body(""), false},
		"without the right":     {forbidden, true},
		"the condition":         {status(`{"status":{"conditions":[{"type":"cache.example.com/has-slot"}]}}`), true},
		"another condition":     {status(`{"status":{"conditions":[{"type":"Ready"}]}}`), false},
		"another of the status": {status(`{"status":{"phase":"Failed"}}`), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := isOfSlots(tc.request); got != tc.want {
				t.Errorf("isOfSlots() = %t, want %t", got, tc.want)
			}
		})
	}
}
