package scenarios

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/judging"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
	"github.com/example-inc/memcached-operator/test/bench/environment"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

// calm is how long clients are observed before a rollout, and after it.
const calm = 15

// rollout is what clients saw of one.
type rollout struct {
	judging.Result
	first, last          int // the seconds in which Pods were replaced
	keys, bytes, seconds float64
}

// handoff measures a rollout that keeps the keys, and one that does not.
func (b *Bench) handoff(ctx context.Context) (figures []report.Figure, err error) {
	b.update("cluster")
	cluster, err := environment.NewReal(ctx, b.Folders)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cluster.Close(ctx)) }()
	ratio, p99 := report.Panel{Title: "hits, %", Most: 100}, report.Panel{Title: "p99, ms"}
	for _, handoff := range []cachev1.Handoff{cachev1.HandoffAuto, cachev1.HandoffNever} {
		b.updatef("rollout with handoff %s", handoff)
		r, err := b.rollout(ctx, cluster, handoff)
		if err != nil {
			return figures, fmt.Errorf("handoff %s: %w", handoff, err)
		}
		figures = append(figures, r.figures(handoff)...)
		hits, latencies := r.curves("handoff " + string(handoff))
		ratio.Curves, p99.Curves = append(ratio.Curves, hits), append(p99.Curves, latencies)
		p99.Most = max(p99.Most, report.Percentile(latencies.Values, 100))
	}
	if b.Picture == "" {
		return figures, nil
	}
	svg := report.Picture("Hits and p99 of clients during a rollout", calm, ratio, p99)
	return figures, os.WriteFile(b.Picture, []byte(svg), 0o644)
}

// rollout replaces the Pods of a new cache.
func (b *Bench) rollout(ctx context.Context, cluster *environment.Real, mode cachev1.Handoff) (r rollout, err error) {
	namespace := "handoff-" + strings.ToLower(string(mode))
	judge := judging.Judge{
		Clients: pipeline.Clients{
			Kube: cluster.Client, Config: cluster.Config, Namespace: namespace, Image: cluster.Judge, Timeout: timeout,
		},
		Cache: "cache", Port: 11211, Keys: b.Keys, Writes: 2000, Arguments: "--size=1024",
	}
	mc := &cachev1.Memcached{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: judge.Cache},
		Spec: cachev1.MemcachedSpec{
			Size: new(int32(environment.Size)), Memory: new(resource.MustParse("128Mi")),
			Slots:   &cachev1.Slots{Mode: cachev1.SlotsDNS},
			Rollout: &cachev1.Rollout{Handoff: mode, HandoffRate: new(resource.MustParse("1Gi"))},
		},
	}
	err = errors.Join(
		judge.Kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}),
		judge.Kube.Create(ctx, mc), awaitReplaced(ctx, judge, nil))
	if err != nil {
		return r, err
	}
	var from, to time.Time
	r.Result, err = judge.Run(ctx, func() error {
		time.Sleep(calm * time.Second)
		from = time.Now()
		err := replace(ctx, judge, mc)
		to = time.Now()
		time.Sleep(calm * time.Second)
		return errors.Join(err, r.readCopied(ctx, judge))
	})
	r.first, r.last = int(from.Sub(r.Began).Seconds()), int(to.Sub(r.Began).Seconds())
	return r, errors.Join(err, judge.Kube.Delete(ctx, mc))
}

func replace(ctx context.Context, judge judging.Judge, mc *cachev1.Memcached) error {
	before, err := judge.Pods(ctx)
	if err != nil {
		return err
	}
	more := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"memory":"160Mi"}}`))
	return errors.Join(judge.Kube.Patch(ctx, mc, more), awaitReplaced(ctx, judge, before))
}

// awaitReplaced waits until all Pods are ready, and none of those before exists.
func awaitReplaced(ctx context.Context, judge judging.Judge, before []corev1.Pod) error {
	old := map[types.UID]bool{}
	for _, pod := range before {
		old[pod.UID] = true
	}
	isOld := func(pod corev1.Pod) bool { return old[pod.UID] || !isReady(pod) }
	return wait.PollUntilContextTimeout(ctx, time.Second/2, timeout, true, func(ctx context.Context) (bool, error) {
		pods, err := judge.Pods(ctx)
		return len(pods) == environment.Size && !slices.ContainsFunc(pods, isOld), err
	})
}

func isReady(pod corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
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

func (r *rollout) figures(mode cachev1.Handoff) []report.Figure {
	during, gap, longest := r.Seconds[r.first:], 0, 0
	for _, second := range during {
		if gap++; second.Misses == 0 && second.Reads > 0 {
			gap = 0
		}
		longest = max(longest, gap)
	}
	_, p99 := r.curves("")
	before, after := report.Median(p99.Values[:calm]), report.Median(p99.Values[calm:len(p99.Values)-calm])
	name := "handoff " + string(mode) + ": "
	figures := []report.Figure{
		report.Unjudged(name+"keys kept", 100*float64(r.Kept)/float64(r.Untouched), "%",
			fmt.Sprintf("%d of %d, in a rollout of %d s", r.Kept, r.Untouched, r.last-r.first)),
		report.Unjudged(name+"longest time with misses", float64(longest), "s"),
		report.Unjudged(name+"p99 of clients during the rollout, against before", after/before, "times",
			fmt.Sprintf("%s ms against %s ms", report.Number(after), report.Number(before))),
	}
	if mode == cachev1.HandoffAuto {
		figures = append(figures, report.Unjudged(name+"copy", r.bytes/r.seconds/mebibyte, "MiB/s",
			fmt.Sprintf("%s keys/s, from one Pod to another", report.Number(r.keys/r.seconds))))
	}
	return figures
}

// curves are the hits in percent and the p99 in milliseconds, from a while before the rollout until a while after it.
func (r *rollout) curves(name string) (hits, p99 report.Curve) {
	hits.Name, p99.Name = name, name
	for _, second := range r.Seconds[max(r.first-calm, 0):min(r.last+calm, len(r.Seconds))] {
		ratio, latency := math.NaN(), math.NaN()
		if second.Reads > 0 {
			ratio, latency = 100*float64(second.Reads-second.Misses)/float64(second.Reads), second.P99/1000
		}
		hits.Values, p99.Values = append(hits.Values, ratio), append(p99.Values, latency)
	}
	return hits, p99
}
