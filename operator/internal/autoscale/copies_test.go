package autoscale

// A rollout, a drain and a change to the number of Pods copy keys to other Pods, where these keys count as just used.
// The tests check that this is no reason to choose another memory.

import (
	"strconv"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

// stored are the bytes that were stored in one minute, and are not read again.
type stored struct{ at, bytes int64 }

// copies is a simulated memcached, with its agent.
type copies struct {
	items    []stored // in the order of their eviction
	sum      int64
	copied   int64 // the minute in which keys were last copied to it
	evicted  int64 // when an item that was used after the copy was last evicted; age is the age of that item
	age      int64
	evicting bool
}

func (m *copies) store(minute, bytes, room int64) {
	m.items, m.sum = append(m.items, stored{minute, bytes}), m.sum+bytes
	for m.sum > room {
		first := &m.items[0]
		if first.at > m.copied {
			m.evicting, m.evicted, m.age = true, minute, minute-first.at
		}
		part := min(first.bytes, m.sum-room)
		if first.bytes, m.sum = first.bytes-part, m.sum-part; first.bytes == 0 {
			m.items = m.items[1:]
		}
	}
}

// handOver copies all keys to the next Pod.
func (m *copies) handOver(minute int64) {
	for i := range m.items {
		m.items[i].at = minute
	}
	m.copied, m.evicting = minute, false
}

func (m *copies) report(minute, memory, stored int64) usage.Report {
	const minutes = 60
	r := usage.Report{Memory: memory, Reads: 1000, HitRatio: 0.9, Observed: min((minute-m.copied)*minutes, int64(day.Seconds()))}
	for age := int64(minutes); age <= r.Observed/2; age += minutes {
		r.Curve = append(r.Curve, usage.Point{Age: age, Memory: age / minutes * stored, HitRatio: 0.5})
	}
	if m.evicting && minute-m.evicted < int64(window/time.Minute) {
		r.Evicting, r.EvictedAge = true, m.age*minutes
	}
	return r
}

// fleet is a cache of such Pods. The field all is the number of bytes that clients store in a minute.
type fleet struct {
	in     Input
	pods   []*copies
	all    int64
	minute int64
}

// newFleet has three Pods with 1 GiB each, in which an item stays for 66 minutes.
func newFleet(choosesSize bool) *fleet {
	f := &fleet{all: 3 * gib / 66, pods: []*copies{{}, {}, {}}, in: Input{
		Policy: Policy{Acts: true, Min: gib / 4, Max: 12 * gib, Age: time.Hour, Cooldown: 10 * time.Minute},
		State:  State{Memory: gib}, Now: now, Reports: Reports{Since: now},
	}}
	if choosesSize {
		f.in.Policy.Pod, f.in.Policy.Min, f.in.State.Memory = gib, gib, 3*gib
	}
	f.run(3 * day)
	return f
}

func (f *fleet) room() int64 {
	if f.in.Policy.Pod > 0 {
		return f.in.Policy.Pod
	}
	return f.in.State.Memory
}

// run simulates some time, and returns the least and the most memory that was chosen.
func (f *fleet) run(long time.Duration) (least, most int64) {
	least = f.in.State.Memory
	for range int(long / time.Minute) {
		f.minute++
		f.in.Now, f.in.Reports.Seen = f.in.Now.Add(time.Minute), nil
		each := f.all / int64(len(f.pods))
		for i, pod := range f.pods {
			pod.store(f.minute, each, f.room())
			report := pod.report(f.minute, f.room(), each)
			report.Pod = strconv.Itoa(i)
			f.in.Reports.Seen = append(f.in.Reports.Seen, Seen{f.in.Now, report})
		}
		f.in.Reports.Sampled = len(f.pods)
		f.in.State = Decide(f.in)
		if f.in.Policy.Pod > 0 {
			f.resize(int(f.in.pods()))
		}
		least, most = min(least, f.in.State.Memory), max(most, f.in.State.Memory)
	}
	return least, most
}

// resize adds or removes Pods, one at a time. Keys that move are copied, and each agent begins to observe again.
func (f *fleet) resize(to int) {
	for len(f.pods) < to {
		next := &copies{}
		for _, pod := range f.pods {
			for i := range pod.items {
				part := pod.items[i].bytes / int64(len(f.pods)+1)
				pod.items[i].bytes -= part
				next.items, next.sum, pod.sum = append(next.items, stored{0, part}), next.sum+part, pod.sum-part
			}
			pod.copied = f.minute
		}
		next.handOver(f.minute)
		f.pods = append(f.pods, next)
	}
	for len(f.pods) > to {
		last := f.pods[len(f.pods)-1]
		f.pods = f.pods[:len(f.pods)-1]
		for _, pod := range f.pods {
			pod.copied, pod.evicting = f.minute, false
			pod.store(f.minute, last.sum/int64(len(f.pods)), f.room())
		}
	}
}

func TestCopiedKeysAreNoReasonForAnotherMemory(t *testing.T) {
	drain := func(f *fleet, day int) { f.pods[day%len(f.pods)].handOver(f.minute) }
	rollout := func(f *fleet, _ int) {
		for _, pod := range f.pods {
			pod.handOver(f.minute)
		}
	}
	tests := map[string]struct {
		choosesSize bool
		happens     func(f *fleet, day int)
	}{
		"a Node is drained twice a day, and the number of Pods is chosen": {true, drain},
		"a Node is drained twice a day, and the memory is chosen":         {false, drain},
		"a rollout twice a day, and the number of Pods is chosen":         {true, rollout},
		"a rollout twice a day, and the memory is chosen":                 {false, rollout},
		"a HorizontalPodAutoscaler has twice the Pods by day, and the memory is chosen": {false, func(f *fleet, _ int) {
			f.all *= 2
			f.resize(6)
			f.run(12 * time.Hour)
			f.all /= 2
			f.resize(3)
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFleet(tc.choosesSize)
			rest := f.in.State.Memory
			for day := range 10 {
				tc.happens(f, day)
				if least, most := f.run(12 * time.Hour); least < rest || most > rest/10*11 {
					t.Fatalf("day %d: %s becomes %s to %s by the same load: %s", day, bytes(rest), bytes(least), bytes(most), f.in.State.Why)
				}
			}
		})
	}
}
