package plan

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/autoscale"
	"github.com/example-inc/memcached-operator/operator/internal/memcached"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

// autosized is the spec of a cache whose number of Pods the operator chooses, between 2 and 9.
func autosized() cachev1.MemcachedSpec {
	return cachev1.MemcachedSpec{
		Size:  new(int32(1)),
		Slots: &cachev1.Slots{ClientHash: cachev1.HashKetama},
		Autoscaling: &cachev1.Autoscaling{Size: &cachev1.SizeAutoscaling{
			Mode: cachev1.AutoscalingAct, Min: 2, Max: 9, EvictionAgeSeconds: 3600, CooldownSeconds: 600,
		}},
	}
}

func choseSize(size int32) cachev1.MemcachedStatus {
	return cachev1.MemcachedStatus{Autoscaling: &cachev1.AutoscalingStatus{
		Size: &cachev1.SizeAutoscalingStatus{Reason: cachev1.MemoryFits, Current: &size},
	}}
}

func TestTheNumberOfPodsThatTheOperatorChose(t *testing.T) {
	listed := func(count int) Current { return Current{Slots: CurrentSlots{Listed: count}} }
	deployed := func(replicas int32) Current {
		return Current{Deployment: &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: &replicas}}}
	}
	observes := autosized()
	observes.Autoscaling.Size.Mode = cachev1.AutoscalingObserve
	large := autosized()
	large.Size = new(int32(4))
	tests := map[string]struct {
		spec    cachev1.MemcachedSpec
		status  cachev1.MemcachedStatus
		current Current
		want    int32
	}{
		"is that of the spec at first":                    {spec: large, want: 4},
		"is at least the minimum":                         {spec: autosized(), want: 2},
		"is what the status says":                         {spec: large, status: choseSize(3), current: listed(5), want: 3},
		"is what clients know, without that":              {spec: autosized(), current: listed(5), want: 5},
		"is that of the spec, where clients know of less": {spec: large, current: listed(3), want: 4},
		"is at most the maximum":                          {spec: autosized(), status: choseSize(12), want: 9},
		"is as it is while the Pods have no slots":        {spec: autosized(), current: deployed(12), want: 12},
		"ignores what another client wrote in the status": {spec: large, status: choseSize(-5), current: listed(4), want: 4},
		"is not what another client wrote there":          {spec: autosized(), current: listed(1 << 20), want: 9},
		"is that of the spec, if it only observes":        {spec: observes, status: choseSize(5), current: listed(5), want: 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			mc := memcachedWith(tc.spec)
			mc.Status = tc.status
			before := *mc.Spec.Size
			if got := *withChosenSize(mc, tc.current).Spec.Size; got != tc.want {
				t.Errorf("%d, want %d", got, tc.want)
			}
			if *mc.Spec.Size != before {
				t.Error("the Memcached of the cache was changed")
			}
		})
	}
}

func TestAgentsWatchTheRequestsForTheMemoryOrTheSize(t *testing.T) {
	nothing := cachev1.MemcachedSpec{Autoscaling: &cachev1.Autoscaling{}}
	for name, tc := range map[string]struct {
		spec    cachev1.MemcachedSpec
		watches bool
	}{"the memory": {autoscaled(), true}, "the size": {autosized(), true}, "the usual day": {nothing, false}} {
		if NeedsCurve(tc.spec) != tc.watches {
			t.Errorf("%s: %t", name, !tc.watches)
		}
	}
}

func TestTheChosenNumberOfPodsCountsEverywhere(t *testing.T) {
	mc := memcachedWith(autosized())
	mc.Status = choseSize(5)
	p := planOf(t, mc, Current{SecretsUsable: true}, defaults)
	if p.Size != 5 || p.Replicas() != 5 || len(p.Slots.Slots) != 5 || p.Disruption == nil || p.Slots.Listed != 5 {
		t.Errorf("%d Pods, %d replicas, slots %v, listed %d", p.Size, p.Replicas(), p.Slots.Slots, p.Slots.Listed)
	}
}

func TestAPodIsAddedOnlyToACacheThatIsReadyAndAsLargeAsItShallBe(t *testing.T) {
	now := time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	point := usage.Point{Age: 3600, Memory: 100 * memcached.Mebibyte, HitRatio: 0.9}
	later := usage.Point{Age: 7200, Memory: 200 * memcached.Mebibyte, HitRatio: 0.9}
	reports := autoscale.Reports{Since: now.Add(-time.Hour), Seen: []autoscale.Seen{{At: now, Report: usage.Report{
		Observed: 14400, Memory: memcached.DefaultItemMemory, Evicting: true, EvictedAge: 3000,
		Curve: []usage.Point{point, later},
	}}}}
	tests := map[string]struct {
		change func(*cachev1.Memcached, *Current)
		want   int64
	}{
		"it is ready":     {func(*cachev1.Memcached, *Current) {}, 4},
		"it is suspended": {func(mc *cachev1.Memcached, _ *Current) { mc.Spec.Suspend = true }, 2},
		"the spec is new": {func(mc *cachev1.Memcached, _ *Current) { mc.Generation++ }, 2},
		"a Pod hands over": {
			func(mc *cachev1.Memcached, _ *Current) { mc.Status.Conditions[0].Reason = cachev1.ReasonHandingOver }, 2,
		},
		"clients know of fewer": {func(_ *cachev1.Memcached, current *Current) { current.Slots.Listed = 1 }, 2},
		"each Pod has more memory": {
			func(mc *cachev1.Memcached, _ *Current) { mc.Spec.Memory = new(binary(100 * memcached.Mebibyte)) }, 2,
		},
		"it only observes": {func(mc *cachev1.Memcached, _ *Current) {
			mc.Spec.Autoscaling.Size.Mode, mc.Spec.Size = cachev1.AutoscalingObserve, new(int32(2))
		}, 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			mc := memcachedWith(autosized())
			mc.Status = choseSize(2)
			mc.Status.Conditions = []metav1.Condition{{
				Type: cachev1.ConditionReady, Status: metav1.ConditionTrue, Reason: cachev1.ReasonAllPodsReady,
			}}
			live := deployedBy(t, mc, defaults)
			live.Spec.Replicas = new(int32(2))
			current := currently(live)
			current.Usage, current.Slots.Listed = Usage{Reports: reports}, 2
			tc.change(mc, &current)
			with := defaults
			with.Now = now
			p := planOf(t, mc, current, with)
			if got := p.Autoscaling.Size.Memory / p.Autoscaling.Pod; got != tc.want {
				t.Errorf("%d Pods from now on: %+v", got, p.Autoscaling.Size.Finding)
			}
			if p.Size != 2 {
				t.Errorf("%d Pods before the status says so", p.Size)
			}
		})
	}
}

func TestTheLargestNumberOfPodsIsOneThatTheCacheCanHave(t *testing.T) {
	tests := map[string]struct {
		change func(*cachev1.Memcached)
		want   string
	}{
		"it is": {func(*cachev1.Memcached) {}, ""},
		"clients choose by the remainder of a division": {func(mc *cachev1.Memcached) {
			mc.Spec.Slots.ClientHash, mc.Spec.Autoscaling.Size.Max = cachev1.HashCRC32Modulo, 17
		}, "supports a spec.autoscaling.size.max of at most 16, not 17"},
		"the names of slots get too long": {func(mc *cachev1.Memcached) {
			mc.Name, mc.Spec.Autoscaling.Size.Max = strings.Repeat("x", 60), 1000
		}, "metadata.name is too long for slots"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			mc := memcachedWith(autosized())
			tc.change(mc)
			_, err := computed(mc, Current{SecretsUsable: true}, defaults)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
}

// TestWhileClientsKnowOfFewerPodsTheNumberCountsAsChanged, so that the operator does not combine reports from times
// with different numbers of Pods.
func TestWhileClientsKnowOfFewerPodsTheNumberCountsAsChanged(t *testing.T) {
	mc := memcachedWith(autosized())
	mc.Status = choseSize(4)
	live := deployedBy(t, mc, defaults)
	with := defaults
	with.Now = time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	for listed, changes := range map[int]bool{3: true, 4: false} {
		current := currently(live)
		current.Slots = slotsListed(current.Slots, listed)
		if changed := planOf(t, mc, current, with).Autoscaling.Size.Changed; changed.IsZero() == changes {
			t.Errorf("%d of 4 slots: changed at %s", listed, changed)
		}
	}
}

func slotsListed(current CurrentSlots, listed int) CurrentSlots {
	current.Listed = listed
	for number := range listed {
		current.Endpoints = append(current.Endpoints, slots.Endpoint{Slot: number, UID: string(rune('a' + number))})
	}
	return current
}

// TestReportsOfBeforeTheFirstRecordMayBeOfAnotherNumberOfPods, because autoscaling.memory may have observed the cache
// for a long time before that record.
func TestReportsOfBeforeTheFirstRecordMayBeOfAnotherNumberOfPods(t *testing.T) {
	with := defaults
	with.Now = time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	seen := []autoscale.Seen{{At: with.Now, Report: usage.Report{Observed: 14400}}}
	for name, tc := range map[string]struct {
		status  cachev1.MemcachedStatus
		seen    []autoscale.Seen
		changed bool
	}{
		"there are reports":    {cachev1.MemcachedStatus{}, seen, true},
		"there is none":        {cachev1.MemcachedStatus{}, nil, false},
		"there is a record":    {choseSize(2), seen, false},
		"there is only memory": {cachev1.MemcachedStatus{Autoscaling: &cachev1.AutoscalingStatus{}}, seen, true},
	} {
		mc := memcachedWith(autosized())
		mc.Status = tc.status
		current := Current{SecretsUsable: true, Usage: Usage{Reports: autoscale.Reports{Seen: tc.seen}}}
		if got := planOf(t, mc, current, with).Autoscaling.Size.Changed; got.IsZero() == tc.changed {
			t.Errorf("%s: changed at %s", name, got)
		}
	}
}

// TestWhatWasTooLittleIsReadFromTheRecord, even if another client wrote the record.
func TestWhatWasTooLittleIsReadFromTheRecord(t *testing.T) {
	mebibytes := func(count int64) resource.Quantity { return binary(count * memcached.Mebibyte) }
	for memory, want := range map[int64]int64{128: 128, 9999: 0, -1: 0} {
		mc := memcachedWith(autosized())
		mc.Status = choseSize(3)
		mc.Status.Autoscaling.Size.TooLittle = &cachev1.TooLittleMemory{
			Memory: mebibytes(memory), Needed: new(mebibytes(100)), Since: metav1.Time{Time: defaults.Now},
		}
		kept := planOf(t, mc, Current{SecretsUsable: true}, defaults).Autoscaling.Size.TooLittle.Memory
		if kept != want*memcached.Mebibyte {
			t.Errorf("%d MiB: kept %d", memory, kept/memcached.Mebibyte)
		}
	}
}

// TestOtherBoundsAreAStep: if the bounds of the spec change the number of Pods, this is a step with a reason and a
// time.
func TestOtherBoundsAreAStep(t *testing.T) {
	mc := memcachedWith(autosized())
	mc.Status = choseSize(12)
	mc.Status.Autoscaling.Size.ChangedAt = &metav1.Time{Time: defaults.Now.Add(time.Hour)} // written by a wrong clock
	decided := planOf(t, mc, Current{SecretsUsable: true}, defaults).Autoscaling
	if decided.Size.Memory != 9*decided.Pod || !strings.Contains(decided.Size.Why, "other bounds") ||
		!decided.Size.Changed.Equal(defaults.Now) {
		t.Errorf("%+v", decided.Size)
	}
}
