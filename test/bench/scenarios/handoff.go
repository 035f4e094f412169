package scenarios

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/judging"
	"github.com/example-inc/memcached-operator/internal/testing/statistics"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/bench/environment"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

// calm is how long clients are observed before a rollout, and after it.
const calm = 15

// rollout is what clients saw during one rollout.
type rollout struct {
	judging.Result
	first, last          int // the seconds in which Pods were replaced
	keys, bytes, seconds float64
}

// handoff measures a rollout in which Pods hand their keys over, and a rollout in which they do not.
func (b *Bench) handoff(ctx context.Context) ([]report.Figure, error) {
	return b.onPods(ctx, func(judge judging.Judge) ([]report.Figure, error) {
		judge.Keys, judge.Writes, judge.Arguments = b.Keys, 500, "--size=1024"
		return b.rollouts(ctx, judge)
	})
}

// rollouts measures both rollouts, and draws one picture of them.
func (b *Bench) rollouts(ctx context.Context, judge judging.Judge) (figures []report.Figure, err error) {
	ratio, p99 := report.Panel{Title: "hits, %", Most: 100}, report.Panel{Title: "p99, ms"}
	for _, handoff := range []cachev1.HandoffMode{cachev1.HandoffAuto, cachev1.HandoffNever} {
		b.updatef("rollout with handoff %s", handoff)
		r, err := rollOut(ctx, judge, handoff)
		if err != nil {
			return figures, fmt.Errorf("handoff %s: %w", handoff, err)
		}
		figures = append(figures, r.figures(handoff)...)
		hits, latencies := r.curves("handoff " + string(handoff))
		ratio.Curves, p99.Curves = append(ratio.Curves, hits), append(p99.Curves, latencies)
		p99.Most = max(p99.Most, statistics.Percentile(latencies.Values, 100))
	}
	axis := report.Axis{
		Marks: []report.Mark{{Second: calm, Text: "rollout begins"}},
		Ends:  fmt.Sprintf("%d s later", len(ratio.Curves[0].Values)-1-calm),
	}
	return figures, b.draw("handoff", report.Picture("Hits and p99 of clients during a rollout", axis, ratio, p99))
}

// rollOut replaces the Pods of a new cache.
func rollOut(ctx context.Context, judge judging.Judge, mode cachev1.HandoffMode) (r rollout, err error) {
	judge.Namespace = "handoff-" + strings.ToLower(string(mode))
	mc := &cachev1.Memcached{
		ObjectMeta: metav1.ObjectMeta{Namespace: judge.Namespace, Name: judge.Cache},
		Spec: cachev1.MemcachedSpec{
			Size: new(int32(environment.Size)), Memory: new(resource.MustParse("128Mi")),
			Slots:     &cachev1.Slots{Handoff: &cachev1.Handoff{Mode: mode}},
			Resources: &cachev1.MemcachedResources{Resources: cachev1.Resources{Requests: cpu("250m")}},
		},
	}
	if err := create(ctx, judge, mc); err != nil {
		return r, err
	}
	var from, to time.Time
	r.Result, err = judge.Run(ctx, func() error {
		time.Sleep(calm * time.Second)
		from = time.Now()
		if err := replace(ctx, judge, mc); err != nil {
			return err
		}
		to = time.Now()
		time.Sleep(calm * time.Second)
		return r.readCopied(ctx, judge)
	})
	r.first, r.last = int(from.Sub(r.Began).Seconds()), int(to.Sub(r.Began).Seconds())
	return r, errors.Join(err, judge.Kube.Delete(ctx, mc))
}

// create creates a cache in a new namespace, and waits until its Pods are ready.
func create(ctx context.Context, judge judging.Judge, mc *cachev1.Memcached) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: judge.Namespace}}
	if err := errors.Join(judge.Kube.Create(ctx, namespace), judge.Kube.Create(ctx, mc)); err != nil {
		return err
	}
	return judge.AwaitReplaced(ctx, environment.Size, nil)
}

func cpu(quantity string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(quantity)}
}

func replace(ctx context.Context, judge judging.Judge, mc *cachev1.Memcached) error {
	before, err := judge.Pods(ctx)
	if err != nil {
		return err
	}
	if err := judge.Kube.Patch(ctx, mc, mergeSpec(`{"memory":"160Mi"}`)); err != nil {
		return err
	}
	return judge.AwaitReplaced(ctx, environment.Size, before)
}

// mergeSpec returns a patch that changes fields of a spec.
func mergeSpec(format string, args ...any) client.Patch {
	return client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":`+format+`}`, args...))
}

func (r *rollout) readCopied(ctx context.Context, judge judging.Judge) (err error) {
	for metric, value := range map[string]*float64{
		"keys_total": &r.keys, "bytes_total": &r.bytes, "duration_seconds": &r.seconds,
	} {
		if *value, err = judge.Sum(ctx, "memcached_agent_handoff_"+metric); err != nil {
			return err
		}
	}
	return nil
}

func (r *rollout) figures(mode cachev1.HandoffMode) []report.Figure {
	gap, longest := 0, 0
	for _, second := range r.Seconds[r.first:] {
		if gap++; second.Misses == 0 && second.Reads > 0 {
			gap = 0
		}
		longest = max(longest, gap)
	}
	before, after := r.p99(r.first-calm, r.first), r.p99(r.first, r.last)
	name := "handoff " + string(mode) + ": "
	figures := []report.Figure{
		report.Unjudged(name+"keys kept", 100*float64(r.Kept)/float64(r.Untouched), "%",
			fmt.Sprintf("%d of %d, in a rollout of %d s", r.Kept, r.Untouched, r.last-r.first)),
		report.Unjudged(name+"longest time with misses or without an answer", float64(longest), "s"),
	}
	p99 := name + "p99 of clients during the rollout, against before"
	times := fmt.Sprintf("%s ms against %s ms", report.Number(after), report.Number(before))
	if mode == cachev1.HandoffNever {
		return append(figures, report.Unjudged(p99, after/before, "times", times))
	}
	return append(figures, report.AtMost(1.2, "times", p99, after/before, times),
		report.Unjudged(name+"copy", r.bytes/r.seconds/mebibyte, "MiB/s",
			fmt.Sprintf("%s keys/s, from one Pod to another", report.Number(r.keys/r.seconds))))
}

// p99 is the median of the p99 latencies of some seconds, in milliseconds.
func (r *rollout) p99(from, to int) float64 {
	var all []float64
	for _, second := range r.Seconds[from:to] {
		if second.Reads > 0 {
			all = append(all, second.P99/1000)
		}
	}
	return statistics.Median(all)
}

// curves are the hit ratio in percent and the p99 latency in milliseconds, from some seconds before the rollout until
// some seconds after it.
func (r *rollout) curves(name string) (hits, p99 report.Curve) {
	hits.Name, p99.Name = name, name
	for _, second := range r.Seconds[r.first-calm : min(r.last+calm, len(r.Seconds))] {
		ratio, latency := math.NaN(), math.NaN()
		if second.Reads > 0 {
			ratio, latency = 100*float64(second.Reads-second.Misses)/float64(second.Reads), second.P99/1000
		}
		hits.Values, p99.Values = append(hits.Values, ratio), append(p99.Values, latency)
	}
	return hits, p99
}
