package consistent

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

const behind = 10 * time.Millisecond

func late(string) time.Duration { return behind }

func TestARead(t *testing.T) {
	written := func() *cachev1.Memcached { return memcached("ns", "cache", 1) }
	deletedUnseen := func(c *Client, uid types.UID) {
		deleted := written()
		deleted.UID, deleted.ResourceVersion = uid, "1"
		c.Predicate().Delete(event.DeleteEvent{Object: deleted, DeleteStateUnknown: true})
	}
	tests := map[string]struct {
		delay   func(string) time.Duration // of the watch; none if it stands still
		before  func(t *testing.T, s *apiServer, c *Client)
		takes   time.Duration
		missing bool
		live    int
	}{
		"after a write waits for the cache": {delay: late, takes: behind,
			before: func(t *testing.T, _ *apiServer, c *Client) { c.write(t, written()) }},
		"after a write that changed nothing does not wait": {delay: late,
			before: func(t *testing.T, _ *apiServer, c *Client) {
				c.write(t, written())
				time.Sleep(time.Second)
				c.write(t, written())
			}},
		"after a write whose event came first does not wait": {delay: late,
			before: func(t *testing.T, s *apiServer, c *Client) {
				s.answering = time.Second
				c.write(t, written())
			}},
		"after a write that the cache does not select does not wait": {missing: true,
			before: func(t *testing.T, _ *apiServer, c *Client) {
				hidden := written()
				hidden.Labels = map[string]string{"hidden": "yes"}
				c.write(t, hidden)
			}},
		"after a deletion waits for the cache": {delay: late, takes: behind, missing: true,
			before: func(t *testing.T, _ *apiServer, c *Client) {
				mc := written()
				c.write(t, mc)
				time.Sleep(time.Second)
				c.remove(t, mc)
			}},
		"after another client deleted what was written does not wait": {delay: late, missing: true,
			before: func(t *testing.T, s *apiServer, c *Client) {
				mc := written()
				c.write(t, mc)
				_ = s.Delete(t.Context(), mc)
				time.Sleep(time.Second)
			}},
		"after another client deleted it before the answer does not wait": {delay: late, missing: true,
			before: func(t *testing.T, s *apiServer, c *Client) {
				s.answering = time.Second
				go func() {
					time.Sleep(time.Second / 2)
					_ = s.Delete(t.Context(), written())
				}()
				c.write(t, written())
			}},
		"after an earlier one was deleted before the answer waits": {takes: patience, live: 1,
			before: func(t *testing.T, s *apiServer, c *Client) {
				s.answering = time.Second
				go func() {
					time.Sleep(time.Second / 2)
					deletedUnseen(c, "of another")
				}()
				c.write(t, written())
			}},
		"after the watch missed how it was deleted does not wait": {missing: true,
			before: func(t *testing.T, _ *apiServer, c *Client) {
				mc := written()
				c.write(t, mc)
				deletedUnseen(c, mc.UID)
			}},
		"after the watch missed how a namesake was deleted waits": {takes: patience, live: 1,
			before: func(t *testing.T, _ *apiServer, c *Client) {
				c.write(t, written())
				deletedUnseen(c, "of another")
			}},
		"while the watch stands still asks the API server, later": {takes: patience, live: 1,
			before: func(t *testing.T, _ *apiServer, c *Client) { c.write(t, written()) }},
		"of what was deleted while the watch was interrupted asks once": {missing: true, live: 1,
			before: func(t *testing.T, s *apiServer, c *Client) {
				mc := written()
				c.write(t, mc)
				_ = s.Delete(t.Context(), mc)
				if _, err := c.read(t, mc); !apierrors.IsNotFound(err) {
					t.Errorf("got %v", err)
				}
			}},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, c := newAPIServer(t, tc.delay)
				tc.before(t, s, c)
				start := time.Now()
				_, err := c.read(t, written())
				if took := time.Since(start); took != tc.takes || apierrors.IsNotFound(err) != tc.missing || s.liveReads != tc.live {
					t.Errorf("it takes %s and %d reads past the cache, and ends with %v", took, s.liveReads, err)
				}
			})
		})
	}
}

func TestAReadWaitsNoLongerThanItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := newAPIServer(t, nil)
		c.write(t, memcached("ns", "cache", 1))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := c.Get(ctx, client.ObjectKeyFromObject(memcached("ns", "cache", 1)), &cachev1.Memcached{})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAnObjectOnItsWayOutIsNotWaitedFor(t *testing.T) {
	deletion := &record{uid: "deleted"}
	tests := map[string]struct {
		cached *metav1.ObjectMeta
		shown  bool
	}{
		"the object as it was": {&metav1.ObjectMeta{UID: "deleted"}, false},
		"it is being deleted":  {&metav1.ObjectMeta{UID: "deleted", DeletionTimestamp: new(metav1.Now())}, true},
		"there is another one": {&metav1.ObjectMeta{UID: "other"}, true},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			if got := deletion.isShownBy(tc.cached); got != tc.shown {
				t.Errorf("shown: %t", got)
			}
		})
	}
}

func TestTheAnswerToAnApplyIsRead(t *testing.T) {
	id, answer, err := readAnswer(appsv1ac.Deployment("cache", "ns").WithUID("uid").WithResourceVersion("7").
		WithLabels(map[string]string{"app": "memcached"}))
	if err != nil || id.kind.String() != "apps/v1, Kind=Deployment" || id.key.String() != "ns/cache" ||
		answer.GetUID() != "uid" || answer.GetResourceVersion() != "7" || answer.GetLabels()["app"] != "memcached" {
		t.Errorf("read %v, %v, error %v", id, answer, err)
	}
	if _, _, err := readAnswer(unknown{}); err == nil {
		t.Error("an unknown configuration is read")
	}
}

type unknown struct{ runtime.ApplyConfiguration }
