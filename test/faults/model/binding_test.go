package model

import (
	"fmt"
	"testing"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

// bound is a Secret of a binding, applied by the operator.
func bound(name, owner string) string {
	return fmt.Sprintf(`{kind: Secret, type: servicebinding.io/memcached, metadata: {name: %s, uid: %[1]s, `+
		`ownerReferences: [{kind: Memcached, name: %s, uid: m, controller: true}], managedFields: [{manager: memcached-operator, `+
		`operation: Apply, fieldsType: FieldsV1, fieldsV1: {"f:metadata": {"f:annotations": {"f:cache.example.com/applied-hash": {}}}}}]}}`,
		name, owner)
}

// othersSecret is a Secret of another client.
func othersSecret(annotations string) string {
	return `{kind: Secret, type: Opaque, metadata: {name: s, uid: s, annotations: {` + annotations + `}}}`
}

func TestTheBindingOfAMemcachedIsASecretOfItsOwn(t *testing.T) {
	requested := mc("spec: {binding: {secretName: s}}")
	ready := mc("spec: {binding: {secretName: s}}, status: {observedGeneration: 1, binding: {name: s}, conditions: [{type: Ready, status: 'True'}]}")
	unnamed := mc("spec: {binding: {secretName: s}}, status: {observedGeneration: 1, conditions: [{type: Ready, status: 'True'}]}")
	ruleTest{
		rule: "bindings",
		keeps: map[string]func(*recorded){
			"it is requested": func(s *recorded) { s.user(requested).operator(bound("s", "a")) },
			"it is no longer requested": func(s *recorded) {
				s.user(requested).operator(bound("s", "a")).user(mc("spec: {}")).deletes(operatorUser, bound("s", "a"))
			},
			"it may be adopted": func(s *recorded) {
				s.user(requested, othersSecret("cache.example.com/adopt-by: a")).operator(bound("s", "a"))
			},
			"it is there":              func(s *recorded) { s.user(ready).operator(bound("s", "a")).step(history.PhaseAtRest) },
			"others do what they want": func(s *recorded) { s.user(requested, othersSecret("")).deletes("user", othersSecret("")) },
			"a suspended Memcached has none": func(s *recorded) {
				s.user(mc("spec: {suspend: true, binding: {secretName: s}}")).step(history.PhaseAtRest)
			},
		},
		breaks: map[string]func(*recorded){
			"nobody requested it":          func(s *recorded) { s.user(mc("spec: {}")).operator(bound("s", "a")) },
			"another name is requested":    func(s *recorded) { s.user(requested).operator(bound("t", "a")) },
			"it is of another client":      func(s *recorded) { s.user(requested, othersSecret("")).operator(bound("s", "a")) },
			"another client's is deleted":  func(s *recorded) { s.user(requested, othersSecret("")).deletes(operatorUser, othersSecret("")) },
			"it is deleted against a spec": func(s *recorded) { s.user(requested).operator(bound("s", "a")).deletes(operatorUser, bound("s", "a")) },
			"it is missing":                func(s *recorded) { s.user(ready).step(history.PhaseAtRest) },
			"the status does not name it":  func(s *recorded) { s.user(unnamed).operator(bound("s", "a")).step(history.PhaseAtRest) },
			"a former one is left": func(s *recorded) {
				s.user(ready).operator(bound("s", "a")).by("unknown", bound("t", "a")).step(history.PhaseAtRest)
			},
		},
	}.run(t)
}

func TestOnlyTheDataOfABindingHasWhatIsInASecret(t *testing.T) {
	const secret = `{kind: Secret, type: servicebinding.io/memcached, metadata: {name: s, uid: s%s}, data: {password: %s}}`
	in64 := "eGRvLW5vdC1zaG93" // base64 of x and the marker
	ruleTest{
		rule: "no secrets",
		keeps: map[string]func(*recorded){
			"in its data": func(s *recorded) { s.operator(fmt.Sprintf(secret, "", in64)) },
		},
		breaks: map[string]func(*recorded){
			"in its metadata": func(s *recorded) { s.operator(fmt.Sprintf(secret, ", labels: {a: do-not-show}", in64)) },
			"in base64, in an event": func(s *recorded) {
				s.operator(`{kind: Service, metadata: {name: a, uid: a, labels: {a: ` + in64 + `}}}`)
			},
			"in base64, in the log": func(s *recorded) { s.step(history.Logged + "data: " + in64) },
		},
	}.run(t)
}
