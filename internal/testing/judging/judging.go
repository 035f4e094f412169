// Package judging runs the client of test/client on a cache with slots, to judge whether clients read what was written.
package judging

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/monitor"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/client/clientpod"
)

// Result is what the client prints.
type Result struct {
	Writes, Deletions, Reads, Misses, Errors, Reconnected int
	Outdated, Untouched, Kept                             int
	OldestMs, LateMs                                      float64
	Failures                                              []string

	Began   time.Time
	Seconds []Second // one by one since Began
}

// Second is how clients read, within one second, the keys that are stored only once.
type Second struct {
	Reads, Misses int
	P99           float64 // microseconds
}

// Judge is a client that judges a cache. It runs in the namespace of the cache.
type Judge struct {
	clientpod.Clients
	Cache        string
	Port         int
	Keys, Writes int    // how many keys are stored once, and writes of other keys per second
	Flags        string // further flags of each client
	Arguments    string // further arguments of this client
}

// Run starts the client, calls during once all keys are stored, and ends the client when during has returned.
func (j Judge) Run(ctx context.Context, during func() error) (result Result, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // An error ends the client, too.
	command := fmt.Sprintf("judge --endpoint=%s-slots.%s.svc:%d --slots=3 --keys=%d --writes=%d %s %s",
		j.Cache, j.Namespace, j.Port, j.Keys, j.Writes, j.Flags, j.Arguments)
	done := make(chan error, 1)
	go func() {
		output, err := j.Output(ctx, func(string) {}, strings.Fields(command)...)
		if err == nil {
			err = json.Unmarshal(output, &result)
		}
		done <- err
	}()
	if err := j.awaitStored(ctx, done); err != nil {
		return Result{}, err
	}
	if err := during(); err != nil {
		return Result{}, err
	}
	if err := j.release(ctx); err != nil {
		return Result{}, err
	}
	err = <-done
	return result, err
}

// awaitStored waits until the Pods together have all keys.
func (j Judge) awaitStored(ctx context.Context, done <-chan error) error {
	return wait.PollUntilContextTimeout(ctx, time.Second, j.Timeout, true, func(ctx context.Context) (bool, error) {
		select {
		case err := <-done:
			return false, fmt.Errorf("the client ended before all keys were stored: %w", err)
		default:
		}
		stored, err := j.Sum(ctx, "memcached_current_items")
		return err == nil && stored > float64(j.Keys), nil //nolint:nilerr // A Pod may not answer yet.
	})
}

func (j Judge) release(ctx context.Context) error {
	mc := &cachev1.Memcached{}
	if err := j.Kube.Get(ctx, client.ObjectKey{Namespace: j.Namespace, Name: j.Cache}, mc); err != nil {
		return err
	}
	_, err := j.Clients.Run(ctx, func(string) {}, append(clientpod.Reach(mc), strings.Fields("release "+j.Flags)...)...)
	return err
}

// Pods returns the Pods of the cache, including terminating ones.
func (j Judge) Pods(ctx context.Context) ([]corev1.Pod, error) {
	pods := &corev1.PodList{}
	err := j.Kube.List(ctx, pods, client.InNamespace(j.Namespace), client.MatchingLabels{"memcached_cr": j.Cache})
	return pods.Items, err
}

// Sum adds up a metric of the agents of the cache.
func (j Judge) Sum(ctx context.Context, metric string) (sum float64, err error) {
	set, err := kubernetes.NewForConfig(j.Config)
	if err != nil {
		return 0, err
	}
	pods, err := j.Pods(ctx)
	if err != nil {
		return 0, err
	}
	for _, pod := range pods {
		body, err := set.CoreV1().Pods(j.Namespace).ProxyGet("http", pod.Name, "9150", "metrics", nil).DoRaw(ctx)
		if err != nil {
			return 0, err
		}
		metrics, err := monitor.Parse(bytes.NewReader(body))
		if err != nil {
			return 0, err
		}
		sum += metrics.Sum(metric, "")
	}
	return sum, nil
}

// AwaitReplaced waits until the cache has this number of Pods, all of them are ready, and none of them is in before.
func (j Judge) AwaitReplaced(ctx context.Context, size int, before []corev1.Pod) error {
	old := map[types.UID]bool{}
	for _, pod := range before {
		old[pod.UID] = true
	}
	isOld := func(pod corev1.Pod) bool { return old[pod.UID] || !isReady(pod) }
	return wait.PollUntilContextTimeout(ctx, time.Second/2, j.Timeout, true, func(ctx context.Context) (bool, error) {
		pods, err := j.Pods(ctx)
		return len(pods) == size && !slices.ContainsFunc(pods, isOld), err
	})
}

func isReady(pod corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}
