package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

// readiness counts the ready Pods of each Pod template. The operator may see Pods later than they change, but never
// earlier. So if a template never had enough ready Pods at a time, a cache with this template cannot be Ready.
type readiness struct {
	*past

	ready map[string]map[string]bool // the ready Pods of each template, by its hash
	peak  map[string]int             // the largest number of ready Pods of each template at a time
	asked map[string]*templateIntent // by the name of a Deployment
}

// templateIntent has the Pod templates of a Deployment which the operator may take for the current one.
type templateIntent struct {
	templates map[string]bool
	process   history.Process // the process that wrote the last template
	before    map[string]bool // all earlier templates
	at        int             // the index of the entry that wrote the last template
}

func (r *readiness) check(e history.Entry) string {
	if e.State == nil {
		return ""
	}
	switch o := e.State.Object; o.GetKind() {
	case "Pod":
		r.count(o, e.State.Type == watch.Deleted)
	case "Deployment":
		if isMain(o) {
			r.ask(e)
		}
	case "Memcached":
		return r.judge(e)
	}
	return ""
}

// count records whether a Pod is ready.
func (r *readiness) count(pod *object, deleted bool) {
	hash := pod.GetLabels()["pod-template-hash"]
	if before := r.before(pod); before != nil {
		delete(r.ready[before.GetLabels()["pod-template-hash"]], pod.GetName())
	}
	if deleted || !isReady(pod) {
		return
	}
	if r.ready[hash] == nil {
		r.ready[hash] = map[string]bool{}
	}
	r.ready[hash][pod.GetName()] = true
	r.peak[hash] = max(r.peak[hash], len(r.ready[hash]))
}

// ask records the Pod template of a Deployment. A template that the operator writes replaces all templates before. A
// template of another client, for example for a restart, is added to them, because the operator may already have read
// it.
func (r *readiness) ask(e history.Entry) {
	o := e.State.Object
	template := plainTemplate(o)
	asked := r.asked[o.GetName()]
	if asked == nil {
		asked = &templateIntent{templates: map[string]bool{}, before: map[string]bool{}}
		r.asked[o.GetName()] = asked
	}
	if by := r.byOperator(e); by != nil && !asked.templates[template] {
		maps.Copy(asked.before, asked.templates)
		asked.templates, asked.process, asked.at = map[string]bool{}, history.ProcessOf(by), len(r.entries)
	}
	asked.templates[template] = true
}

func (r *readiness) judge(e history.Entry) string {
	o, by := r.writesStatus(e)
	if o == nil {
		return ""
	}
	mc, asked := r.memcached(o), r.asked[o.GetName()]
	if !isTrue(mc, cachev1.ConditionReady) || mc.Spec.Suspend || sizeOf(mc) == 0 {
		return ""
	}
	if asked == nil {
		return fmt.Sprintf("%s is Ready, and has no Deployment", mc.Name)
	}
	templates := maps.Clone(asked.templates)
	if process := history.ProcessOf(by); process != asked.process && r.start(process) <= asked.at {
		maps.Copy(templates, asked.before) // Another operator wrote the template, and this one may not know it yet.
	}
	most := 0
	for _, set := range r.ever("ReplicaSet") {
		if templates[plainTemplate(set)] {
			most = max(most, r.peak[set.GetLabels()["pod-template-hash"]])
		}
	}
	if int64(most) < sizeOf(mc) {
		return fmt.Sprintf("%s is Ready, and at most %d of %d Pods with the current template were ready at a time",
			mc.Name, most, sizeOf(mc))
	}
	if !r.wasComplete(mc, by) {
		return fmt.Sprintf("%s is Ready, and the operator can not have read a complete Deployment with %d Pods",
			mc.Name, sizeOf(mc))
	}
	return ""
}

// wasComplete reports whether the process may have read a Deployment whose Pods are all ready.
func (r *readiness) wasComplete(mc *cachev1.Memcached, by *audit.Request) bool {
	for uid, states := range r.objects {
		if refOf(states[0].object) != (ref{"Deployment", mc.Name}) {
			continue
		}
		complete := func(o *object) bool { return allReady(o, sizeOf(mc)) }
		if slices.ContainsFunc(r.seen(history.ProcessOf(by), uid), complete) {
			return true
		}
	}
	return false
}

// ever returns the first state of each object of a kind, including those that were deleted.
func (p *past) ever(kind string) []*object {
	var found []*object
	for _, states := range p.objects {
		if states[0].GetKind() == kind {
			found = append(found, states[0].object)
		}
	}
	return found
}

// plainTemplate encodes the Pod template of a Deployment or ReplicaSet. It omits the label that only the template of a
// ReplicaSet has.
func plainTemplate(o *object) string {
	hash := o.GetLabels()["pod-template-hash"]
	template := encoded(value(o, "spec", "template"))
	for _, label := range []string{`,"pod-template-hash":"` + hash + `"`, `"pod-template-hash":"` + hash + `",`} {
		template = strings.Replace(template, label, "", 1)
	}
	return template
}
