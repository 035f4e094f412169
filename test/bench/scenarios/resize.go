package scenarios

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/example-inc/memcached-operator/internal/testing/judging"
	"github.com/example-inc/memcached-operator/internal/testing/statistics"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/bench/environment"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

// The memory of each Pod, in MiB, before and after it grows.
const less, more = 128, 256

// resized is what clients saw while the memory of running Pods grew, and shrank again.
type resized struct {
	rollout
	grown, shrunk time.Duration
	shrinks       int // the second in which they begin to shrink
	restarts      int // of containers
}

// resize measures changes to the memory of running Pods, and a full memcached that releases half of its memory.
func (b *Bench) resize(ctx context.Context) ([]report.Figure, error) {
	figures, err := b.onPods(ctx, func(judge judging.Judge) ([]report.Figure, error) {
		judge.Keys, judge.Writes, judge.Arguments = 2*b.Keys, 500, "--size=1024"
		b.updatef("%d MiB, %d and %d again", less, more, less)
		r, err := resizePods(ctx, judge)
		if err != nil {
			return nil, err
		}
		return r.figures(), b.draw("resize", r.picture())
	})
	if err != nil {
		return figures, err
	}
	b.updatef("a full memcached of 1 GiB")
	found, err := b.attributes(ctx, "operator/internal/agent/resize",
		"TestAMemcachedThatShrinksKeepsTheHottestKeysAndGivesMemoryBack", "-memory=1024")
	if err != nil {
		return figures, err
	}
	return append(figures,
		report.AtMost(15, "s", "a full memcached of 1 GiB gives half of it back", found["shrink-seconds"]),
		report.AtMost(5, "%", "its hottest keys that are lost, though they fit", 100-found["hottest-kept-percent"])), nil
}

// resizePods doubles the memory of the Pods of a new cache, and then reduces it to the old value.
func resizePods(ctx context.Context, judge judging.Judge) (r resized, err error) {
	judge.Namespace = "resize"
	mc := &cachev1.Memcached{
		ObjectMeta: metav1.ObjectMeta{Namespace: judge.Namespace, Name: judge.Cache},
		Spec: cachev1.MemcachedSpec{
			Size: new(int32(environment.Size)), Memory: new(resource.MustParse(fmt.Sprintf("%dMi", less))),
			Slots: &cachev1.Slots{}, Rollout: &cachev1.Rollout{MemoryChange: cachev1.MemoryResize},
			Resources: &cachev1.MemcachedResources{Resources: cachev1.Resources{Requests: cpu("250m")}},
		},
	}
	if err := create(ctx, judge, mc); err != nil {
		return r, err
	}
	var began, shrinks time.Time
	r.Result, err = judge.Run(ctx, func() (err error) {
		time.Sleep(calm * time.Second)
		began = time.Now()
		if r.grown, err = changeMemory(ctx, judge, mc, more); err != nil {
			return err
		}
		time.Sleep(calm * time.Second)
		shrinks = time.Now()
		if r.shrunk, err = changeMemory(ctx, judge, mc, less); err != nil {
			return err
		}
		time.Sleep(calm * time.Second)
		r.restarts, err = restarts(ctx, judge)
		return err
	})
	second := func(at time.Time) int { return int(at.Sub(r.Began).Seconds()) }
	r.first, r.shrinks, r.last = second(began), second(shrinks), second(shrinks.Add(r.shrunk))
	return r, errors.Join(err, judge.Kube.Delete(ctx, mc))
}

// changeMemory changes the memory, and returns how long it takes until each memcached uses the new limit.
func changeMemory(
	ctx context.Context, judge judging.Judge, mc *cachev1.Memcached, mebibytes int,
) (time.Duration, error) {
	began := time.Now()
	if err := judge.Kube.Patch(ctx, mc, mergeSpec(`{"memory":"%dMi"}`, mebibytes)); err != nil {
		return 0, err
	}
	want := float64(environment.Size * mebibytes << 20)
	err := wait.PollUntilContextTimeout(ctx, time.Second/10, judge.Timeout, true, func(ctx context.Context) (bool, error) {
		has, err := judge.Sum(ctx, "memcached_limit_bytes")
		return has == want, err
	})
	if err != nil {
		return 0, fmt.Errorf("wait for %d MiB: %w", mebibytes, err)
	}
	return time.Since(began), nil
}

func restarts(ctx context.Context, judge judging.Judge) (count int, err error) {
	pods, err := judge.Pods(ctx)
	for _, pod := range pods {
		for _, container := range append(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses...) {
			count += int(container.RestartCount)
		}
	}
	return count, err
}

func (r *resized) figures() []report.Figure {
	before, during := r.p99(r.first-calm, r.first), r.p99(r.first, r.last)
	return []report.Figure{
		report.AtMost(5, "s", "running Pods get twice the memory", r.grown.Seconds()),
		report.AtMost(15, "s", "running Pods give half of it back", r.shrunk.Seconds()),
		report.AtMost(0, "", "keys lost", float64(r.Untouched-r.Kept), fmt.Sprintf("of %d", r.Untouched)),
		report.AtMost(0, "", "requests that failed", float64(r.Errors)),
		report.AtMost(0, "", "restarts of containers", float64(r.restarts)),
		report.AtMost(1.2, "times", "p99 of clients in the meantime, against before", during/before,
			fmt.Sprintf("%s ms against %s ms", report.Number(during), report.Number(before))),
	}
}

func (r *resized) picture() string {
	hits, p99 := r.curves("three Pods")
	shrink := calm + r.shrinks - r.first
	axis := report.Axis{
		Marks: []report.Mark{{Second: calm, Text: "twice the memory"}, {Second: shrink, Text: "half of it"}},
		Ends:  fmt.Sprintf("%d s later", len(hits.Values)-1-calm),
	}
	most := statistics.Percentile(p99.Values, 100)
	return report.Picture("Hits and p99 while running Pods get other memory", axis,
		report.Panel{Title: "hits, %", Most: 100, Curves: []report.Curve{hits}},
		report.Panel{Title: "p99, ms", Most: most, Curves: []report.Curve{p99}})
}
