package plan

// Drafts the plan of a cache, and completes it once its Pod template is rendered.

import (
	"slices"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// Draft is a plan whose Pod template is not rendered yet. Whether the Pods stay as they are depends on the rendered
// template, which desired.Choose compares with the recorded template.
type Draft struct {
	// Pod has everything that the Pod template is rendered from.
	Pod Pod

	memcached *cachev1.Memcached
	current   Current
	defaults  Defaults

	// before has the inputs that the current Pods were made from; nil if those are unknown. now has the operator's current
	// inputs. record has the inputs of this draft: those of now, or those of before, possibly with the memory of now.
	before *Record
	now    Record
	record Record

	// keeps: record has the inputs of before, and not those of now.
	keeps bool

	// problems are the errors in the spec.
	problems []string
}

// Resolve drafts the plan of a cache. Its Pods are made from the same inputs as before until the user requests the
// update, because replaced Pods lose their items, and an upgrade of the operator alone must not cause such a loss. The
// error is about the operator's inputs for a new cache, and not about the spec.
func Resolve(mc *cachev1.Memcached, current Current, defaults Defaults) (Draft, error) {
	mc = withChosenSize(withChosenMemory(mc, current), current)
	before, now := records(mc, current.Deployment, defaults)
	d := Draft{memcached: mc, current: current, defaults: defaults, before: before, now: now}
	switch {
	case before == nil:
		if err := platformProblem(defaults); err != nil {
			return Draft{}, err
		}
		return d.Updated(), nil
	case before.Requested != now.Requested, !slices.Contains(defaults.Revisions, before.Revision),
		before.Slots && len(defaults.MissingRights) > 0:
		// An older operator does not know the template revision of a newer operator, and an operator without the rights for
		// slots cannot make the Pods ready.
		return d.Updated(), nil
	}
	made := *before
	if current.Slots.haveNoRoom(now.Memory < made.Memory, !choosesMemory(mc.Spec)) {
		made.Memory = now.Memory
	}
	d.keeps = true
	return d.from(made), nil
}

// Updated returns the draft with the operator's current inputs.
func (d Draft) Updated() Draft {
	d.keeps = false
	return d.from(d.now)
}

func (d Draft) from(record Record) Draft {
	d.record, d.Pod = record, podOf(d.memcached, record)
	checked := d.Pod
	if record.Memory != 0 { // Running Pods get the memory of the spec, whatever memory they started with.
		record.Memory = 0
		checked = podOf(d.memcached, record)
	}
	d.problems = validate(d.memcached, checked, d.defaults)
	return d
}

// IsValid reports whether the spec has no errors. Otherwise no Pod template can be rendered.
func (d Draft) IsValid() bool { return d.memcached != nil && len(d.problems) == 0 }

// ReplacesPods reports whether the Pod template that was rendered from the spec, with this hash, differs from the
// recorded template. The Pods are then replaced anyway, and also get the operator's current inputs.
func (d Draft) ReplacesPods(hash string) bool {
	return d.keeps && d.IsValid() && d.before.Template != "" && d.before.Template != hash
}

// IsPending reports whether an update to the operator's current inputs waits. If the spec replaces the Pods, the new
// Pods get these inputs, but not before their Secrets are usable.
func (d Draft) IsPending() bool {
	waits := d.keeps || d.before != nil && d.current.Deployment != nil && !d.current.SecretsUsable
	return d.IsValid() && waits && len(d.updateFor(*d.before)) > 0
}

// updateFor returns the same as pendingFor, but without a change to the memory, because no update is made for such a
// change alone, whatever spec.updatePolicy is.
func (d Draft) updateFor(made Record) []string {
	made.Memory = d.now.Memory
	return d.pendingFor(made)
}

// pendingFor describes the changes that an update would make to Pods that were made from a record.
func (d Draft) pendingFor(made Record) []string {
	spec := d.memcached.Spec
	return pending(leftOpen(spec, made.Inputs), leftOpen(spec, d.now.Inputs))
}

// Outcome completes the plan. The hash is that of the Pod template that was rendered from the draft; an invalid draft
// has none.
func (d Draft) Outcome(hash string) Outcome {
	if !d.IsValid() {
		return d.invalid()
	}
	if d.waitsForSecrets(hash) {
		d = d.from(*d.before) // The Pods stay as they are, with or without slots.
	}
	size := d.size()
	decided := decisions{size: size, record: d.record, slots: d.decideSlots(size, d.memory(hash))}
	decided.record.Template = hash
	decided.disruption = d.disruption(size)
	template, blocker := d.changeTemplate(hash, decided.slots)
	if decided.template = template; template == KeepTemplate {
		decided.record = orZero(d.before)
	}
	decided.pending, decided.update = d.pending(decided.record)
	if blocker = d.blocker(blocker, decided.update); blocker != "" {
		return Blocked{Plan: d.plan(decided), By: blocker}
	}
	return Ready{Plan: d.plan(decided)}
}

// size returns the desired number of Pods. The number stays as it is while clients may use both the other servers of a
// bootstrap and the cache.
func (d Draft) size() int32 {
	if listed := d.current.Slots.Listed; d.hasMoved() && listed > 0 {
		return int32(listed) //nolint:gosec // An object has room for some thousands.
	}
	return orDefault(d.memcached.Spec.Size, 1)
}

// invalid returns the outcome of a spec with errors: the operator only maintains the slots and the discovery of
// existing Pods.
func (d Draft) invalid() Invalid {
	outcome := Invalid{Problems: d.problems, Endpoint: d.endpoint(d.servicePorts()), Kept: d.keptSlots()}
	var decided *Discovery
	if outcome.Kept != nil {
		decided = outcome.Kept.Discovery
	} else {
		decided = d.decideDiscovery(outcome.Endpoint, nil)
	}
	if decided != nil && len(d.defaults.MissingDiscoveryRights) == 0 {
		outcome.Discovery = decided.Decision
	}
	return outcome
}

// waitsForSecrets reports whether the Pod template with this hash differs from the deployed template, and waits for
// Secrets.
func (d Draft) waitsForSecrets(hash string) bool {
	return !d.current.SecretsUsable && d.current.Deployment != nil && d.before != nil && d.before.Template != hash &&
		(len(d.defaults.MissingRights) == 0 || !d.before.Slots)
}

// changeTemplate defers a Pod template with which new Pods could not start, or which would be rolled out while a slot
// moves. The size and the network access of the cache do not wait.
func (d Draft) changeTemplate(hash string, slots *Slots) (TemplateChange, Blocker) {
	exists, before := d.current.Deployment != nil, orZero(d.before)
	differs := exists && before.Template != hash
	switch {
	case !d.current.SecretsUsable && !exists:
		return NoTemplate, SecretUnusable
	case !d.current.SecretsUsable && differs:
		return KeepTemplate, SecretUnusable
	case slots != nil && slots.Moving && d.before != nil && differs:
		return KeepTemplate, SlotMoves
	case d.hasMoved() && d.before != nil && differs:
		return KeepTemplate, KeysMove
	}
	return RenderTemplate, ""
}

// pending describes all changes to the Pods that wait (all), and those of them for which an update is made (update).
// While the cache is suspended, the Pods stay as they are, and all changes wait.
func (d Draft) pending(made Record) (all, update []string) {
	if d.before == nil {
		return nil, nil
	}
	if d.memcached.Spec.Suspend {
		made = *d.before
	}
	return d.pendingFor(made), d.updateFor(made)
}

// blocker returns the cause that the plan waits for, or empty. An automatic update is not queued before its Secrets are
// usable.
func (d Draft) blocker(ofTemplate Blocker, update []string) Blocker {
	switch {
	case ofTemplate != "":
		return ofTemplate
	case d.size() != orDefault(d.memcached.Spec.Size, 1):
		return KeysMove
	case len(update) == 0 || d.memcached.Spec.UpdatePolicy != cachev1.UpdateAutomatic:
		return ""
	case !d.current.SecretsUsable:
		return SecretUnusable
	}
	return UpdateQueued
}
