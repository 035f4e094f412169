package model

import (
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

func rolloutRules() []Rule {
	return []Rule{{
		Name: "no rollout that no one requested",
		Promise: "The operator changes the Pod template only after a change to a field that replaces the Pods, after a " +
			"new value of update-requested, or with updatePolicy Automatic. An upgrade or a restart of the operator, " +
			"another order of a set, and another spelling of the spec replace no Pods. If a Node can never have room for " +
			"the memory of a running Pod, the Pod is replaced, unless the operator chose the memory.",
		New: func(p *past) func(history.Entry) string {
			t := templates{past: p, last: map[types.UID]rendering{}}
			return t.check
		},
	}}
}

// templates has the Pod template that the operator rendered last for each Deployment.
type templates struct {
	*past

	last map[types.UID]rendering
}

// rendering is a Pod template, with its sets in a fixed order, and the specs from which it may have been rendered.
type rendering struct {
	template string
	revision int
	from     []*cachev1.Memcached
	process  history.Process
	at       int        // the index of the entry
	earlier  *rendering // the rendering before this one
}

func (t *templates) check(e history.Entry) string {
	if mc, by := t.writesStatus(e); mc != nil {
		t.narrow(mc, history.ProcessOf(by))
	}
	if e.State == nil || !isMain(e.State.Object) || e.State.Type == watch.Deleted {
		return ""
	}
	o, before := e.State.Object, t.before(e.State.Object)
	was, is := value(before, "spec", "template"), value(o, "spec", "template")
	changed := before == nil || canonical(was) != canonical(is)
	if e.State.By == nil && changed {
		delete(t.last, o.GetUID()) // The operator may have written it: the request is not known.
	}
	_, by := t.writes(e)
	if by == nil || by.FieldManager() != fieldManager || isJSONPatch(by) {
		return ""
	}
	if !changed && encoded(was) != encoded(is) && !t.had(o.GetUID(), is) {
		return fmt.Sprintf("the operator changed the order in the Pod template of Deployment %s, which replaces the Pods: %s",
			o.GetName(), firstDifference(was, is))
	}
	body := bodyOf(by)
	last, known := t.last[o.GetUID()]
	now := rendering{
		template: canonical(value(body, "spec", "template")), revision: revisionOf(body),
		from: renderedFrom(body, t.specsFor(o, by)), process: history.ProcessOf(by),
		at: len(t.entries),
	}
	switch {
	case isKept(body):
		return t.checkKept(o, by, value(body, "spec", "template"), changed)
	case known && !changed && now.template != last.template:
		return "" // The template is another spelling of the deployed one.
	}
	if known {
		now.earlier = &last
	}
	t.last[o.GetUID()] = now
	if !known || now.template == last.template || t.isRequested(now) || t.hasNoRoom(o.GetName(), now) {
		return "" // The change is requested, or only reverts a change by another client.
	}
	return fmt.Sprintf("the operator changed the Pod template of Deployment %s, although no user requested a change: %s",
		o.GetName(), firstDifference(was, is))
}

// had reports whether a Deployment ever had this Pod template.
func (t *templates) had(uid types.UID, template any) bool {
	wanted := encoded(template)
	return slices.ContainsFunc(t.objects[uid], func(m moment) bool {
		return encoded(value(m.object, "spec", "template")) == wanted
	})
}

// renderedFrom returns the specs from which a Deployment may have been rendered. It compares only fields for which this
// is easy.
func renderedFrom(body *object, specs []*cachev1.Memcached) []*cachev1.Memcached {
	differs := func(mc *cachev1.Memcached) bool { return mismatch(body, mc) != "" }
	matching := slices.DeleteFunc(slices.Clone(specs), differs)
	if len(matching) == 0 {
		return specs // Another rule finds this violation.
	}
	return matching
}

// narrow records that the last rendering is from the current spec, because a process reported Ready for this spec. The
// process either wrote the Deployment itself, or started later and has read it.
func (t *templates) narrow(o *object, process history.Process) {
	mc := t.memcached(o)
	deployment := t.current[ref{"Deployment", o.GetName()}]
	if deployment == nil || mc.Spec.Suspend || !isTrue(mc, cachev1.ConditionReady) {
		return
	}
	last, known := t.last[deployment.GetUID()]
	if known && (last.process == process || t.start(process) > last.at) {
		last.from = []*cachev1.Memcached{mc}
		t.last[deployment.GetUID()] = last
	}
}

// isKept reports whether the operator applied the Pod template as it found it. The operator does so while a Secret is
// missing or invalid. Such a template has the API server's defaults, by which isKept recognizes it.
func isKept(body *object) bool {
	containers, _ := value(body, "spec", "template", "spec", "containers").([]any)
	return slices.ContainsFunc(containers, func(container any) bool {
		fields, _ := container.(map[string]any)
		return fields["terminationMessagePath"] != nil
	})
}

// checkKept returns a violation if a kept template did not exist before. An admission policy may store another template
// than the operator applied.
func (t *templates) checkKept(o *object, by *audit.Request, applied any, changed bool) string {
	if !changed {
		return ""
	}
	stored := canonical(value(o, "spec", "template"))
	for _, seen := range t.seen(history.ProcessOf(by), o.GetUID()) {
		if had := canonical(value(seen, "spec", "template")); had == stored || had == canonical(applied) {
			return ""
		}
	}
	return fmt.Sprintf("the operator applied an unchanged Pod template to Deployment %s, but the Deployment never "+
		"had this template", o.GetName())
}

// isRequested reports whether a user requested the change from an earlier template to this one. The earlier template is
// the last one or, if two operators run, one before it, because this operator need not know yet what the other one has
// applied.
func (t *templates) isRequested(now rendering) bool {
	known := t.known(now.process)
	for before := now.earlier; before != nil; before = before.earlier {
		if before.template == now.template || mayDiffer(*before, now) {
			return true
		}
		if before.process == now.process || before.at <= known {
			return false
		}
	}
	return false
}

// mayDiffer reports whether a user may have requested another template. It also returns true for a lower revision,
// because an older operator does not know the last revision.
func mayDiffer(last, now rendering) bool {
	if now.revision < last.revision {
		return true
	}
	for _, mc := range now.from {
		if mc.Spec.UpdatePolicy == cachev1.UpdateAutomatic {
			return true
		}
		for _, before := range last.from {
			if requested(before) != requested(mc) || podFields(before) != podFields(mc) {
				return true
			}
		}
	}
	return false
}

func requested(mc *cachev1.Memcached) string {
	return mc.Annotations[cachev1.AnnotationUpdateRequested]
}

func revisionOf(body *object) int {
	text := text(body, "spec", "template", "metadata", "annotations", "cache.example.com/template-revision")
	revision, _ := strconv.Atoi(text)
	return revision
}
