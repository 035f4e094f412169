package reports

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

// caches is what the operator's cache has.
type caches struct {
	client.Reader

	memcacheds []cachev1.Memcached
	pods       []corev1.Pod
}

func (c *caches) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	switch list := list.(type) {
	case *cachev1.MemcachedList:
		list.Items = c.memcacheds
	case *corev1.PodList:
		list.Items = slices.Clone(c.pods)
	}
	return nil
}

func named(name string) cachev1.Memcached {
	return cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "team"}}
}

func pod(name, address string, ready corev1.ConditionStatus) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: corev1.PodStatus{
			PodIP: address, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}},
		},
	}
}

// run runs a Reader for some time, on a clock that does not wait.
func run(t *testing.T, c *caches, get Get, duration time.Duration) *Reader {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r := NewReader(c, get, time.Minute)
	go func() {
		for {
			select {
			case <-r.Changed:
			case <-ctx.Done():
				return
			}
		}
	}()
	ended := make(chan struct{})
	go func() {
		_ = r.Start(ctx)
		close(ended)
	}()
	time.Sleep(duration)
	stop()
	<-ended
	return r
}

func TestThePodsThatAreReadyAreReadInTurnOncePerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &caches{memcacheds: []cachev1.Memcached{named("shop")}, pods: []corev1.Pod{
			pod("c", "10.0.0.3", corev1.ConditionTrue), pod("a", "10.0.0.1", corev1.ConditionTrue),
			pod("b", "10.0.0.2", corev1.ConditionFalse), pod("d", "", corev1.ConditionTrue),
		}}
		var read []string
		r := run(t, c, func(_ context.Context, pod *corev1.Pod, _ bool) (usage.Report, error) {
			read = append(read, pod.Name)
			return usage.Report{Pod: "a lie", Reads: int64(len(read))}, nil
		}, 3*time.Minute+time.Second)
		if diff := cmp.Diff([]string{"c", "a", "c", "a"}, read); diff != "" {
			t.Errorf("Pods (-want +got):\n%s", diff)
		}
		reports := r.Of(types.NamespacedName{Namespace: "team", Name: "shop"}).Reports
		if diff := cmp.Diff(usage.Report{Pod: "a", Reads: 4}, reports.Seen[3].Report); diff != "" || len(reports.Seen) != 4 {
			t.Errorf("of %d reports the last one (-want +got):\n%s", len(reports.Seen), diff)
		}
	})
}

// TestTheOldestPodsSpeakForACacheOfMany: each of them is read again before the Reader forgets its report.
func TestTheOldestPodsSpeakForACacheOfMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &caches{memcacheds: []cachev1.Memcached{named("shop")}}
		for i := range 20 {
			c.pods = append(c.pods, pod(string(rune('a'+i)), "10.0.0.1", corev1.ConditionTrue))
			c.pods[i].CreationTimestamp = metav1.NewTime(time.Now().Add(-time.Duration(i) * time.Hour))
		}
		last := map[string]time.Time{}
		run(t, c, func(_ context.Context, pod *corev1.Pod, _ bool) (usage.Report, error) {
			if before, again := last[pod.Name]; again && time.Since(before) >= usage.Patience {
				t.Errorf("Pod %s is read after %s", pod.Name, time.Since(before))
			}
			last[pod.Name] = time.Now()
			return usage.Report{}, nil
		}, time.Hour)
		if diff := cmp.Diff([]string{"p", "q", "r", "s", "t"}, slices.Sorted(maps.Keys(last))); diff != "" {
			t.Errorf("Pods (-want +got):\n%s", diff)
		}
	})
}

func TestPodsThatDoNotAnswerHoldUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &caches{pods: []corev1.Pod{pod("a", "10.0.0.1", corev1.ConditionTrue)}}
		for _, name := range []string{"one", "two", "three"} {
			c.memcacheds = append(c.memcacheds, named(name))
		}
		reads := make(chan time.Time, 100)
		began := time.Now()
		r := run(t, c, func(context.Context, *corev1.Pod, bool) (usage.Report, error) {
			reads <- time.Now()
			time.Sleep(50 * time.Second)
			return usage.Report{}, errors.New("no answer")
		}, 59*time.Second)
		var after []time.Duration
		for len(reads) > 0 {
			after = append(after, (<-reads).Sub(began))
		}
		if diff := cmp.Diff([]time.Duration{0, 20 * time.Second, 40 * time.Second}, after); diff != "" {
			t.Errorf("read after (-want +got):\n%s", diff)
		}
		c.memcacheds = nil
		r.forgetOthers(nil)
		if reports := r.Of(types.NamespacedName{Namespace: "team", Name: "one"}).Reports; !reports.Since.IsZero() {
			t.Errorf("a deleted Memcached is remembered: %+v", reports)
		}
	})
}

// TestThePodsOfManyCachesHang: the Pods of all other caches are still read once a minute.
func TestThePodsOfManyCachesHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &caches{pods: []corev1.Pod{pod("a", "10.0.0.1", corev1.ConditionTrue)}}
		for i := range 1000 {
			c.memcacheds = append(c.memcacheds, named("cache-"+strconv.Itoa(i)))
		}
		var reads atomic.Int64
		run(t, c, func(ctx context.Context, _ *corev1.Pod, _ bool) (usage.Report, error) {
			reads.Add(1)
			select {
			case <-ctx.Done():
			case <-time.After(timeout):
			}
			return usage.Report{}, errors.New("no answer")
		}, 3*time.Minute-time.Second)
		if got := reads.Load(); got < 2700 { // A round waits for its last Pod.
			t.Errorf("%d Pods were read in 3 minutes", got)
		}
	})
}
