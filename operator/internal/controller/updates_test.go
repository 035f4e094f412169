package controller

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/metrics"
)

// fleet are caches that an operator updates.
type fleet struct {
	*updateQueue
	t       *testing.T
	caches  map[string]*cachev1.Memcached
	pending map[string]bool

	// rolling are the caches whose Pods are being replaced, while the status does not show that yet.
	rolling map[string]bool
}

// newFleet makes caches with a pending update. No cache was reconciled yet.
func newFleet(t *testing.T, most int, names ...string) *fleet {
	t.Helper()
	f := &fleet{updateQueue: newUpdateQueue(most), t: t, caches: map[string]*cachev1.Memcached{}, pending: map[string]bool{}, rolling: map[string]bool{}}
	for _, name := range names {
		f.create(name)
	}
	return f
}

func (f *fleet) create(name string) {
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid of " + name)}}
	mc.Spec.UpdatePolicy = cachev1.UpdateAutomatic
	f.caches[name], f.pending[name] = mc, true
	f.becomes(name, cachev1.ReasonAllPodsReady)
	f.news().Create(event.CreateEvent{Object: mc})
}

// change changes the spec of a cache.
func (f *fleet) change(name string, change func(*cachev1.Memcached)) {
	change(f.caches[name])
	f.news().Update(event.UpdateEvent{ObjectNew: f.caches[name]})
}

func (f *fleet) remove(name string) {
	f.news().Delete(event.DeleteEvent{Object: f.caches[name]})
	delete(f.caches, name)
}

// becomes gives the condition Ready of a cache this reason.
func (f *fleet) becomes(name, reason string) {
	ready := metav1.ConditionFalse
	if reason == cachev1.ReasonAllPodsReady {
		ready = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&f.caches[name].Status.Conditions, metav1.Condition{
		Type: cachev1.ConditionReady, Status: ready, Reason: reason,
	})
}

// reconcile returns whether a cache is updated.
func (f *fleet) reconcile(name string) bool {
	f.t.Helper()
	mc := f.caches[name]
	entry := f.enter(candidate{
		memcached: mc, planned: true, pending: f.pending[name], usable: true,
		complete: !f.rolling[name] && meta.IsStatusConditionTrue(mc.Status.Conditions, cachev1.ConditionReady),
	})
	if entry.phase == updating && (f.pending[name] || f.rolling[name]) {
		f.pending[name] = false
		f.becomes(name, cachev1.ReasonRollingOut)
	}
	f.settle(mc, mc.Status)
	return entry.phase == updating
}

// updates reconciles caches in the given order, and returns those that are updated.
func (f *fleet) updates(names ...string) []string {
	f.t.Helper()
	var updated []string
	for _, name := range names {
		if f.reconcile(name) {
			updated = append(updated, name)
		}
	}
	return updated
}

// woken returns the caches for which the last change caused a reconciliation.
func (f *fleet) woken() []string {
	select {
	case <-f.changed:
	default:
		return nil
	}
	var names []string
	for _, request := range f.due(f.t.Context(), nil) {
		names = append(names, request.Name)
	}
	return names
}

func (f *fleet) want(what string, got []string, want ...string) {
	f.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		f.t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// roll begins to update a cache.
func (f *fleet) roll(name string) {
	f.t.Helper()
	f.want("updated", f.updates(name), name)
}

func TestCachesAreUpdatedInOrderWhateverOrderTheyAreReconciledIn(t *testing.T) {
	tests := map[string]struct {
		most  int
		order []string
	}{
		"one at a time":                     {1, []string{"a", "b", "c", "d"}},
		"one at a time, the last one first": {1, []string{"d", "c", "b", "a"}},
		"two at a time, mixed":              {2, []string{"c", "a", "d", "b"}},
		"more than exist":                   {9, []string{"b", "d", "a", "c"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, tc.most, "a", "b", "c", "d")
			f.want("updated before all were reconciled", f.updates(tc.order[:3]...))
			var order, inProgress []string
			start := func(caches ...string) {
				for _, cache := range f.updates(caches...) {
					order, inProgress = append(order, cache), append(inProgress, cache)
				}
				if len(inProgress) > tc.most {
					t.Fatalf("%v are updated at a time", inProgress)
				}
			}
			start(tc.order[3])
			for start(f.woken()...); len(inProgress) > 0; start(f.woken()...) {
				f.becomes(inProgress[0], cachev1.ReasonAllPodsReady)
				f.reconcile(inProgress[0])
				inProgress = inProgress[1:]
			}
			slices.Sort(order[:min(tc.most, len(order))]) // Their updates begin together.
			f.want("order", order, "a", "b", "c", "d")
		})
	}
}

func TestACacheThatIsNotReadyComesAfterAllThatAre(t *testing.T) {
	f := newFleet(t, 1, "a", "b", "c")
	f.becomes("a", cachev1.ReasonPodsNotReady)
	f.want("updated", f.updates("a", "b"))
	f.want("updated", f.updates("c"))
	f.want("woken", f.woken(), "b")
	f.roll("b")
	f.becomes("b", cachev1.ReasonAllPodsReady)
	f.reconcile("b")
	f.want("woken", f.woken(), "c")
	f.roll("c")
	f.becomes("c", cachev1.ReasonAllPodsReady)
	f.reconcile("c")
	f.want("woken", f.woken(), "a")
	f.roll("a")
	f.create("d")
	f.becomes("a", cachev1.ReasonInvalidSpec)
	f.reconcile("a")
	if counts := f.counts(); counts.Failed != 0 {
		t.Errorf("a cache that was not Ready before its update stops the others: %+v", counts)
	}
	f.want("updated", f.updates("d"), "d")
}

func TestAFailedUpdateStopsTheOthersUntil(t *testing.T) {
	for name, undo := range map[string]func(*fleet){
		"the cache is Ready": func(f *fleet) {
			f.becomes("a", cachev1.ReasonAllPodsReady)
			f.reconcile("a")
		},
		"the cache is deleted": func(f *fleet) { f.remove("a") },
		"the cache is being deleted": func(f *fleet) {
			f.change("a", func(mc *cachev1.Memcached) { mc.DeletionTimestamp = new(metav1.Now()) })
		},
		"the cache is suspended": func(f *fleet) { f.change("a", func(mc *cachev1.Memcached) { mc.Spec.Suspend = true }) },
		"the cache is not updated automatically any more": func(f *fleet) {
			f.change("a", func(mc *cachev1.Memcached) { mc.Spec.UpdatePolicy = cachev1.UpdateOnSpecChange })
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, 2, "a", "b", "c", "d")
			f.want("updated", f.updates("d", "c", "b", "a", "b"), "a", "b")
			f.becomes("a", cachev1.ReasonInvalidSpec)
			f.becomes("b", cachev1.ReasonAllPodsReady)
			f.updates("a", "b")
			f.woken()
			f.want("updated", f.updates("c", "d"))
			if diff := cmp.Diff(metrics.Updates{Pending: 2, InProgress: 1, Failed: 1}, f.counts()); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
			undo(f)
			f.want("woken", f.woken(), "c", "d")
			f.want("updated", f.updates("d", "c"), "d", "c")
		})
	}
}

func TestUpdateInProgressByAnotherOperatorKeepsItsPlace(t *testing.T) {
	pendingWas := func(status metav1.ConditionStatus, reason string) metav1.Condition {
		return metav1.Condition{Type: cachev1.ConditionUpdatePending, Status: status, Reason: reason}
	}
	tests := map[string]struct {
		before   metav1.Condition
		reason   string
		takesNew bool
		rolling  bool
		want     bool
	}{
		"the Pods are being replaced":             {before: pendingWas("False", cachev1.ReasonUpdateInProgress), reason: cachev1.ReasonRollingOut, want: true},
		"it failed, and this operator differs":    {before: pendingWas("False", cachev1.ReasonUpdateInProgress), reason: cachev1.ReasonInvalidSpec, takesNew: true, want: true},
		"the status was not written any more":     {before: pendingWas("True", cachev1.ReasonUpdateQueued), reason: cachev1.ReasonAllPodsReady},
		"so, and the Pods are being replaced":     {before: pendingWas("True", cachev1.ReasonUpdateQueued), reason: cachev1.ReasonRollingOut, want: true},
		"so, and no status shows that":            {before: pendingWas("True", cachev1.ReasonUpdateQueued), reason: cachev1.ReasonAllPodsReady, rolling: true, want: true},
		"it is Ready by now":                      {before: pendingWas("False", cachev1.ReasonUpdateInProgress), reason: cachev1.ReasonAllPodsReady},
		"the Pods are replaced for another cause": {before: pendingWas("False", cachev1.ReasonNoUpdatePending), reason: cachev1.ReasonRollingOut},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, 1, "a", "b")
			f.pending["b"], f.rolling["b"] = tc.takesNew, tc.rolling
			meta.SetStatusCondition(&f.caches["b"].Status.Conditions, tc.before)
			f.becomes("b", tc.reason)
			if got := f.reconcile("b"); got != tc.want {
				t.Errorf("it is updated: %v, want %v", got, tc.want)
			}
			if got := f.reconcile("a"); got == tc.want {
				t.Errorf("another one is updated at the same time: %v", got)
			}
		})
	}
}

func TestAnUpdateThatCantBeAppliedTakesNoPlace(t *testing.T) {
	f := newFleet(t, 1, "a", "b")
	meta.SetStatusCondition(&f.caches["a"].Status.Conditions, metav1.Condition{
		Type: cachev1.ConditionUpdatePending, Status: metav1.ConditionTrue, Reason: cachev1.ReasonUpdateQueued,
	})
	for what, c := range map[string]candidate{
		"whose spec is invalid":  {memcached: f.caches["a"], usable: true},
		"whose Secret is absent": {memcached: f.caches["a"], planned: true, pending: true, complete: true},
	} {
		if entry := f.enter(c); entry.phase != settled {
			t.Errorf("a cache %s is in phase %d", what, entry.phase)
		}
	}
	f.want("updated", f.updates("b"), "b")
}

func TestCachesAreUpdatedInOrderAfterTheDefaultsChangeWhileTheOperatorRuns(t *testing.T) {
	f := newFleet(t, 1, "a", "b")
	f.pending = map[string]bool{}
	f.updates("a", "b")
	f.pending = map[string]bool{"a": true, "b": true}
	f.restart()
	f.want("updated", f.updates("b"))
	f.want("updated", f.updates("a"), "a")
}
