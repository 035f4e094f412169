package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

// shared is a Service with a label of another client, and one that the operator applied.
func shared(other, own string) string {
	return fmt.Sprintf(`{kind: Service, metadata: {name: a, uid: Service, labels: {other: %s, own: %s},
  annotations: {cache.example.com/applied-hash: h}, managedFields: [
    {manager: kubectl, operation: Update, fieldsV1: {"f:metadata": {"f:labels": {"f:other": {}, "f:own": {}}}}},
    {manager: memcached-operator, operation: Apply, fieldsV1: {"f:metadata": {"f:labels": {"f:own": {}}}}}]}}`, other, own)
}

// unknown is a Service with a label of the operator, whose managed fields another client removed.
func unknown(own string) string {
	return fmt.Sprintf(`{kind: Service, metadata: {name: a, uid: Service, labels: {other: x, own: %s},
  annotations: {cache.example.com/applied-hash: h}, managedFields: [
    {manager: before-first-apply, operation: Update, fieldsV1: {"f:metadata": {"f:labels": {}}}},
    {manager: memcached-operator, operation: Apply, fieldsV1: {"f:metadata": {"f:labels": {"f:own": {}}}}}]}}`, own)
}

// seized is like shared, but the operator has also applied the label of the other client.
func seized(other string) string {
	return strings.Replace(shared(other, "x"), `Apply, fieldsV1: {"f:metadata": {"f:labels": {`,
		`Apply, fieldsV1: {"f:metadata": {"f:labels": {"f:other": {}, `, 1)
}

// budget is a PodDisruptionBudget that the operator applied before.
func budget(spec string) string {
	return "{kind: PodDisruptionBudget, metadata: {name: a, uid: b, annotations: {cache.example.com/applied-hash: h}}, " +
		"spec: {" + spec + "}}"
}

// ports is a Service that the operator applied before, with a port.
func ports(number string) string {
	return "{kind: Service, metadata: {name: a, uid: Service, annotations: {cache.example.com/applied-hash: h}}, " +
		"spec: {ports: [{name: memcached, port: '" + number + "'}]}}"
}

// hook is a Deployment that the operator applied before, with a handler of a hook.
func hook(handler string) string {
	return "{kind: Deployment, metadata: {name: a, uid: d, annotations: {cache.example.com/applied-hash: h}}, spec: " +
		"{template: {spec: {containers: [{name: memcached, lifecycle: {preStop: {" + handler + "}}}]}}}}"
}

// gated is a Deployment that the operator applied before, with a readiness gate of another client, and maybe the
// operator's gate.
func gated(gate, own string) string {
	return fmt.Sprintf(`{kind: Deployment, metadata: {name: a, uid: d, annotations: {cache.example.com/applied-hash: h},
  managedFields: [{manager: memcached-operator, operation: Apply, fieldsV1: {"f:spec": {"f:template": {"f:spec":
    {"f:readinessGates": {%s}}}}}}]},
  spec: {template: {spec: {readinessGates: [{conditionType: %s}]}}}}`, own, gate)
}

const gate = "/spec/template/spec/readinessGates/0"

// mounting is a Deployment that the operator applied before, with a mount of another client.
func mounting(volume string) string {
	return fmt.Sprintf(`{kind: Deployment, metadata: {name: a, uid: d, annotations: {cache.example.com/applied-hash: h},
  managedFields: [{manager: memcached-operator, operation: Apply, fieldsV1: {"f:spec": {"f:template": {"f:spec":
    {"f:volumes": {'k:{"name":"handoff"}': {".": {}, "f:name": {}}}}}}}}]},
  spec: {template: {spec: {volumes: [{name: handoff}], containers: [
    {name: memcached, volumeMounts: [{mountPath: /copy, name: %s}]}]}}}}`, volume)
}

// sidecar is a Deployment whose agent has a mount of another client. The operator owns one of the lists in its Pod
// template.
func sidecar(owned, agent string) string {
	const fields = `fieldsV1: {"f:spec": {"f:template": {"f:spec": {%s: {'k:{"name":"agent"}': {%s}}}}}}`
	return fmt.Sprintf(`{kind: Deployment, metadata: {name: a, uid: d, annotations: {cache.example.com/applied-hash: h},
  managedFields: [{manager: memcached-operator, operation: Apply, `+fields+`}, {manager: kubectl, operation: Update, `+fields+`}]},
  spec: {template: {spec: {initContainers: [%s]}}}}`,
		owned, "", "f:initContainers", `"f:volumeMounts": {'k:{"mountPath":"/x"}': {".": {}, "f:name": {}}}`, agent)
}

// mounted is the container of the agent with this mount.
const mounted = "{name: agent, volumeMounts: [{mountPath: /x, name: certs}]}"

const preStop = "/spec/template/spec/containers/0/lifecycle/preStop"

const mount = "/spec/template/spec/containers/0/volumeMounts/0"

// refuses makes the API server refuse what the operator applies.
func (s *recorded) refuses(text string) *recorded {
	s.requestOf("patch", resourceOf[parsed(s.t, text).GetKind()], "a", http.StatusUnprocessableEntity)
	q := s.Entries[len(s.Entries)-1].Request
	q.Body, _ = json.Marshal(parsed(s.t, text))
	return s
}

// patches makes the operator remove the value at a path by a JSON patch.
func (s *recorded) patches(text, path string) *recorded {
	s.write(request{user: operatorUser, verb: "patch"}, text)
	s.Entries[len(s.Entries)-1].State.By.Body = fmt.Appendf(nil,
		`[{"op": "replace", "path": "/metadata/resourceVersion", "value": "1"}, {"op": "remove", "path": %q}]`, path)
	return s
}

func TestFieldsOfOthersStay(t *testing.T) {
	ruleTest{
		rule: "unowned fields stay",
		keeps: map[string]func(*recorded){
			"the operator's own, among those that nobody is known to have set": func(s *recorded) {
				s.user(unknown("x")).operator(unknown("y"))
			},
			"the operator's own":     func(s *recorded) { s.user(shared("x", "x")).operator(shared("x", "y")) },
			"another client's write": func(s *recorded) { s.user(shared("x", "x")).user(shared("y", "y")) },
			"a label that it sets for another spec": func(s *recorded) {
				s.user(mc("spec: {size: 1}")).operator(shared("x", "x")).user(mc("spec: {size: 2}")).restart()
				s.operator(seized("y"))
			},
			"a replacement that the API server refused": func(s *recorded) {
				s.user(budget("minAvailable: 1")).refuses(budget("maxUnavailable: 1")).patches(budget("x: x"),
					"/spec/minAvailable")
			},
			"a hook with another handler": func(s *recorded) {
				s.user(hook("exec: {}")).refuses(hook("sleep: {seconds: 9}")).patches(hook(""), preStop)
			},
			"a port with the name of the operator's": func(s *recorded) {
				s.user(ports("8080")).refuses(ports("11211")).patches(ports(""), "/spec/ports/0")
			},
			"a mount of a volume that the operator removes": func(s *recorded) {
				s.user(mounting("handoff")).refuses(owned("Deployment", "spec: {}")).patches(mounting("none"), mount)
			},
			"a gate of slots that the operator does not apply any more": func(s *recorded) {
				s.user(gated(hasSlot, "")).patches(gated("none", ""), gate)
			},
			"a mount in a container that the operator removes": func(s *recorded) {
				s.user(sidecar("f:initContainers", mounted)).operator(sidecar("f:containers", ""))
			},
			"a field of an earlier operator": func(s *recorded) {
				s.user(loose("Service", `labels: {x: x}, managedFields: [{manager: manager, operation: Update, fieldsV1: {"f:metadata": {"f:labels": {"f:x": {}}}}}]`))
				s.operator(loose("Service", ""))
			},
		},
		breaks: map[string]func(*recorded){
			"another value": func(s *recorded) { s.user(shared("x", "x")).operator(shared("y", "x")) },
			"removed":       func(s *recorded) { s.user(shared("x", "x")).operator(shared("null", "x")) },
			"a label that it seizes": func(s *recorded) {
				s.user(mc("spec: {size: 1}")).operator(shared("x", "x")).operator(seized("y"))
			},
			"a replacement that was not refused": func(s *recorded) {
				s.user(budget("minAvailable: 1")).patches(budget("x: x"), "/spec/minAvailable")
			},
			"a replacement that an earlier process was refused": func(s *recorded) {
				s.user(budget("minAvailable: 1")).refuses(budget("maxUnavailable: 1")).restart()
				s.patches(budget("x: x"), "/spec/minAvailable")
			},
			"a hook with the same handler": func(s *recorded) {
				s.user(hook("sleep: {seconds: 1}")).refuses(hook("sleep: {seconds: 9}")).patches(hook(""), preStop)
			},
			"a label instead of the replacement": func(s *recorded) {
				s.user(budget("minAvailable: 1")).refuses(budget("maxUnavailable: 1")).patches(budget("x: x"),
					"/metadata/labels/other")
			},
			"a mount in a container that the operator keeps": func(s *recorded) {
				s.user(sidecar("f:initContainers", mounted)).operator(sidecar("f:initContainers", "{name: agent}"))
			},
			"a mount of another volume than the operator removes": func(s *recorded) {
				s.user(mounting("other")).refuses(owned("Deployment", "spec: {}")).patches(mounting("none"), mount)
			},
			"a mount of a volume that the operator still applies": func(s *recorded) {
				still := owned("Deployment", "spec: {template: {spec: {volumes: [{name: handoff}]}}}")
				s.user(mounting("handoff")).refuses(still).patches(mounting("none"), mount)
			},
			"another gate": func(s *recorded) {
				s.user(gated("example.com/other", "")).patches(gated("none", ""), gate)
			},
			"a gate of slots that the operator still applies": func(s *recorded) {
				own := fmt.Sprintf(`'k:{"conditionType":"%s"}': {".": {}, "f:conditionType": {}}`, hasSlot)
				s.user(gated(hasSlot, own)).patches(gated("none", ""), gate)
			},
			"a port of another name": func(s *recorded) {
				s.user(ports("8080")).refuses(`{kind: Service, metadata: {name: a, uid: Service}, spec: {ports: [{name: y}]}}`)
				s.patches(ports(""), "/spec/ports/0")
			},
		},
	}.run(t)
}

func TestTheSelectorStays(t *testing.T) {
	selecting := func(labels string) string {
		return owned("Deployment", "spec: {selector: {matchLabels: {"+labels+"}}}")
	}
	right := "app: memcached, memcached_cr: a"
	ruleTest{
		rule: "the selector stays",
		keeps: map[string]func(*recorded){
			"the right one":        func(s *recorded) { s.operator(selecting(right), selecting(right)) },
			"another Deployment's": func(s *recorded) { s.user(selecting("app: other")) },
		},
		breaks: map[string]func(*recorded){
			"the wrong one": func(s *recorded) { s.operator(selecting("app: memcached")) },
			"another one":   func(s *recorded) { s.operator(selecting(right)).user(selecting("app: other")) },
		},
	}.run(t)
}

func TestNothingOfASecretIsWritten(t *testing.T) {
	ruleTest{
		rule: "no secrets",
		keeps: map[string]func(*recorded){
			"the name of a Secret":       func(s *recorded) { s.user(mc("")).reports(mc("status: {endpoint: users}")) },
			"another client is careless": func(s *recorded) { s.user(mc("status: {endpoint: do-not-show}")) },
		},
		breaks: map[string]func(*recorded){
			"the log":  func(s *recorded) { s.step(history.Logged + "password: do-not-show") },
			"a status": func(s *recorded) { s.user(mc("")).reports(mc("status: {endpoint: 'password: do-not-show'}")) },
		},
	}.run(t)
}
