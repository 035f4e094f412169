package scenarios

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/judging"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/bench/environment"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

// hash is how the clients choose a server.
const hash = cachev1.HashRendezvous

// scale measures what clients see when a slot is added and removed again. It measures this once with clientHash, so
// that the keys of the new slot are moved to it beforehand, and once without clientHash.
func (b *Bench) scale(ctx context.Context) ([]report.Figure, error) {
	return b.onPods(ctx, func(judge judging.Judge) (figures []report.Figure, err error) {
		judge.Keys, judge.Writes, judge.Arguments = b.Keys, 2000, "--size=1024 --hash="+string(hash)
		for _, of := range []cachev1.ClientHash{hash, ""} {
			name := "with clientHash: "
			judge.Namespace = "scale-with"
			if of == "" {
				name, judge.Namespace = "without clientHash: ", "scale-without"
			}
			b.updatef("scaling %s", name)
			result, err := scaled(ctx, judge, of)
			if err != nil {
				return figures, fmt.Errorf("%s%w", name, err)
			}
			figures = append(figures, scaleFigures(name, result, of != "")...)
		}
		return figures, nil
	})
}

// scaled adds a slot to a new cache, removes it again, and returns what clients saw.
func scaled(ctx context.Context, judge judging.Judge, of cachev1.ClientHash) (result judging.Result, err error) {
	mc := &cachev1.Memcached{
		ObjectMeta: metav1.ObjectMeta{Namespace: judge.Namespace, Name: judge.Cache},
		Spec: cachev1.MemcachedSpec{
			Size: new(int32(environment.Size)), Memory: new(resource.MustParse("128Mi")),
			TerminationDelaySeconds: new(int32(10)),
			Slots:                   &cachev1.Slots{ClientHash: of, ScaleOverlapSeconds: new(int32(20))},
			Resources:               &cachev1.MemcachedResources{Resources: cachev1.Resources{Requests: cpu("250m")}},
		},
	}
	if err := create(ctx, judge, mc); err != nil {
		return result, err
	}
	result, err = judge.Run(ctx, func() error {
		for _, size := range []int{environment.Size + 1, environment.Size} {
			time.Sleep(calm * time.Second)
			if err := changeSize(ctx, judge, mc, size); err != nil {
				return err
			}
		}
		time.Sleep(calm * time.Second)
		return nil
	})
	return result, errors.Join(err, judge.Kube.Delete(ctx, mc))
}

// changeSize changes the size, and waits until the cache has as many slots and Pods.
func changeSize(ctx context.Context, judge judging.Judge, mc *cachev1.Memcached, size int) error {
	if err := judge.Kube.Patch(ctx, mc, mergeSpec(`{"size":%d}`, size)); err != nil {
		return err
	}
	err := wait.PollUntilContextTimeout(ctx, time.Second/2, judge.Timeout, true, func(ctx context.Context) (bool, error) {
		err := judge.Kube.Get(ctx, client.ObjectKeyFromObject(mc), mc)
		return len(mc.Status.Slots) == size, err
	})
	if err != nil {
		return fmt.Errorf("wait for %d slots: %w", size, err)
	}
	return judge.AwaitReplaced(ctx, size, nil)
}

func scaleFigures(name string, result judging.Result, keeps bool) []report.Figure {
	reads, misses := 0, 0
	for _, second := range result.Seconds {
		reads, misses = reads+second.Reads, misses+second.Misses
	}
	const lost, outdated = "reads of untouched keys that missed", "outdated values, 100 ms after a write"
	of := fmt.Sprintf("%d of %d, %d writes a second", misses, reads, result.Writes/max(1, len(result.Seconds)))
	percent := 100 * float64(misses) / float64(max(1, reads))
	if !keeps {
		return []report.Figure{report.Unjudged(name+lost, percent, "%", of)}
	}
	return []report.Figure{
		report.AtMost(1, "%", name+lost, percent, of),
		report.AtMost(0, "", name+outdated, float64(result.Outdated)),
		report.AtMost(0, "", name+"requests that failed", float64(result.Errors)),
	}
}
