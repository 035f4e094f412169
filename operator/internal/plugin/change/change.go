// Package change finds out what a change to a Memcached would do, by the operator's own packages plan and render. It is
// pure.
package change

import (
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/desired"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// Input is what a change starts from.
type Input struct {
	// Before is the Memcached as it is, or nil if it is new; After is what it would be.
	Before, After *cachev1.Memcached

	// Current is the observed state of the cache.
	Current plan.Current

	Now time.Time
}

// Pods is what happens to the Pods.
type Pods string

// Values of Pods.
const (
	// PodsStay: none is replaced.
	PodsStay Pods = "Unchanged"

	// PodsAreCreated: the cache is new.
	PodsAreCreated Pods = "Created"

	// PodsAreReplaced: all are replaced, one after another.
	PodsAreReplaced Pods = "Replaced"

	// PodsAreDeleted: the size is 0.
	PodsAreDeleted Pods = "Deleted"
)

// Keys is what happens to the keys.
type Keys string

// Values of Keys.
const (
	// KeysStay: each stays where it is.
	KeysStay Keys = "Kept"

	// KeysAreHandedOver: each Pod gets the keys of the Pod that it replaces.
	KeysAreHandedOver Keys = "HandedOver"

	// KeysAreMoved: keys that clients will look for in another Pod are copied to that Pod.
	KeysAreMoved Keys = "Moved"

	// SomeKeysAreLost: lost keys are those of removed Pods, those that clients will look for in another Pod, and those
	// that do not fit any more.
	SomeKeysAreLost Keys = "SomeLost"

	// AllKeysAreLost: new Pods start empty.
	AllKeysAreLost Keys = "Lost"
)

// Change is what a change to a Memcached would do.
type Change struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`

	// Problems are the errors in the new spec. If the new spec has errors, the operator would change nothing.
	Problems []string `json:"problems,omitempty"`

	Spec    []Difference `json:"spec,omitempty"`
	Objects []Object     `json:"objects,omitempty"`
	Pods    Pods         `json:"pods"`
	Keys    Keys         `json:"keys"`

	// Notes have more information, such as what the change waits for.
	Notes []string `json:"notes,omitempty"`
}

// Of returns what a change would do.
func Of(in Input) (Change, error) {
	c := Change{Namespace: in.After.Namespace, Name: in.After.Name, Pods: PodsStay, Keys: KeysStay}
	spec, err := compare(specOf(in.Before), specOf(in.After))
	if err != nil {
		return c, err
	}
	c.Spec = spec
	record, defaults, err := defaultsOf(in)
	if err != nil {
		return c, err
	}
	after, template, err := desired.State(in.After, in.Current, defaults)
	if err != nil {
		return c, err
	}
	if invalid, ok := after.(plan.Invalid); ok {
		c.Problems = invalid.Problems
		return c, nil
	}
	planned, _ := plan.Of(after)
	c.judge(in, planned, record)
	c.Notes = notes(in, after, c)
	former, known, err := formerObjects(in, defaults)
	if err != nil {
		return c, err
	}
	if !known {
		c.Notes = append(c.Notes, "The current spec is invalid, so it is not known which objects would change, and how")
		return c, nil
	}
	c.Objects, err = objects(former, render.Objects(planned, template, in.Current.Deployment))
	return c, err
}

// specOf returns a map with the spec in its field spec, so that the paths of the spec's fields begin with spec.
func specOf(mc *cachev1.Memcached) any {
	if mc == nil {
		return map[string]any{"spec": map[string]any{}}
	}
	return map[string]any{"spec": mc.Spec}
}

// newImage stands for the operator's default image, which the plugin does not know.
const newImage = "default-of-the-operator"

// defaultsOf returns the inputs that the Pods are made from. For a new cache, the result is only a placeholder for the
// operator's current inputs, which the plugin does not know: the plugin then only shows which objects are created.
func defaultsOf(in Input) (plan.Record, plan.Defaults, error) {
	revisions := render.Revisions()
	defaults := plan.Defaults{
		Revisions: revisions, Image: newImage, AgentImage: newImage, Platform: plan.Kubernetes, Now: in.Now,
	}
	if in.Current.Deployment == nil {
		return plan.Record{}, defaults, nil
	}
	record, known := plan.Recorded(in.After, in.Current.Deployment)
	if !known {
		return record, defaults, errors.New("the Memcached and its Deployment have no record of what the Pods are made " +
			"from, so it is not known what a change would do: check that the operator manages both")
	}
	last := slices.Index(revisions, record.Revision)
	if last < 0 {
		return record, defaults, fmt.Errorf("the Pods have the template revision %d, and this plugin knows only the "+
			"revisions %v: install the plugin in the operator's version", record.Revision, revisions)
	}
	defaults.Revisions, defaults.Image, defaults.AgentImage = revisions[:last+1], record.Image, record.Agent
	defaults.Architectures, defaults.Platform = record.Architectures, record.Platform
	return record, defaults, nil
}

// judge decides what happens to Pods and keys.
func (c *Change) judge(in Input, planned plan.Plan, record plan.Record) {
	switch {
	case in.Current.Deployment == nil:
		c.Pods = PodsAreCreated
	case !in.After.Spec.Suspend && plan.SizeWith(in.After, in.Current) == 0 && sizeNow(in.Current.Deployment) > 0:
		c.Pods = PodsAreDeleted
	case in.After.Spec.Suspend || planned.Template != plan.RenderTemplate:
	case record.Template != planned.Record.Template:
		c.Pods = PodsAreReplaced
	}
	c.Keys = keysOf(in, c.Pods)
}

// keysOf decides what happens to the keys. It first considers a replacement of the Pods, which concerns all keys.
func keysOf(in Input, pods Pods) Keys {
	before, after := sizeNow(in.Current.Deployment), plan.SizeWith(in.After, in.Current)
	slots := in.After.Spec.Slots
	record, _ := plan.Recorded(in.After, in.Current.Deployment)
	switch {
	case pods == PodsAreCreated || before == 0 || in.After.Spec.Suspend:
		return KeysStay
	case after == 0:
		return AllKeysAreLost
	case pods == PodsAreReplaced && !handsOver(record, in.After):
		return AllKeysAreLost
	case before != after && (slots == nil || slots.ClientHash == ""):
		return SomeKeysAreLost
	case before != after:
		return KeysAreMoved
	case pods == PodsAreReplaced:
		return KeysAreHandedOver
	case grows(in) < 0:
		return SomeKeysAreLost
	}
	return KeysStay
}

// handsOver reports whether Pods have slots now, and will hand their keys over to their successors.
func handsOver(record plan.Record, mc *cachev1.Memcached) bool {
	return record.Slots && mc.Spec.Slots != nil && plan.HandsOver(mc.Spec)
}

func sizeNow(deployment *appsv1.Deployment) int32 {
	if deployment == nil || deployment.Spec.Replicas == nil {
		return 0
	}
	return *deployment.Spec.Replicas
}
