// Package desired computes the desired state of a cache with the packages plan and render, neither of which calls the
// other. Whether the Pods stay as they are, and so which inputs the plan has, depends on the rendered Pod template.
package desired

import (
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// Choose renders the Pod template of a draft. If the Pods were made from another template, they are replaced anyway:
// Choose then returns the draft and the template with the operator's current inputs.
func Choose(draft plan.Draft) (plan.Draft, render.Template) {
	template := templateOf(draft)
	if draft.ReplacesPods(template.Hash) {
		return Update(draft)
	}
	return draft, template
}

// Update returns a draft and its Pod template with the operator's current inputs.
func Update(draft plan.Draft) (plan.Draft, render.Template) {
	draft = draft.Updated()
	return draft, templateOf(draft)
}

// templateOf renders the Pod template of a draft. If the spec is invalid, the template is empty.
func templateOf(draft plan.Draft) render.Template {
	if !draft.IsValid() {
		return render.Template{}
	}
	return render.NewTemplate(draft.Pod)
}

// State plans a cache as the operator does, except that an automatic update does not wait for the updates of other
// caches.
func State(mc *cachev1.Memcached, current plan.Current, defaults plan.Defaults) (plan.Outcome, render.Template, error) {
	draft, err := plan.Resolve(mc, current, defaults)
	if err != nil {
		return nil, render.Template{}, err
	}
	draft, template := Choose(draft)
	if draft.IsPending() && mc.Spec.UpdatePolicy == cachev1.UpdateAutomatic {
		draft, template = Update(draft)
	}
	return draft.Outcome(template.Hash), template, nil
}
