package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling"
	"github.com/fluxcd/cli-utils/pkg/kstatus/polling/event"
	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/cli-utils/pkg/object"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// pollInterval is short: the wait is for people, and a poll is one list a kind.
const pollInterval = time.Second

// wait is the command of that name.
func wait(ctx context.Context, c *cluster, objects []*unstructured.Unstructured, r *reporter) error {
	if err := c.settle(objects); err != nil {
		return err
	}
	if err := waitReady(ctx, c, objects, r); err != nil {
		return err
	}
	for _, o := range objects {
		r.add(verdict{Object: nameOf(o), Action: "ready"})
	}
	return nil
}

// waitReady returns once kstatus finds every object current, saying on the way what it waits
// for. It gives up when the context ends, or when nothing is left that could still come right.
func waitReady(ctx context.Context, c *cluster, objects []*unstructured.Unstructured, r *reporter) error {
	if len(objects) == 0 {
		return nil
	}
	poll, stop := context.WithCancel(ctx)
	defer stop()

	w := newWatch(objects, r)
	var broken error
	for e := range c.poller.Poll(poll, w.ids, polling.PollOptions{PollInterval: pollInterval}) {
		broken = cmp.Or(broken, e.Error)
		if e.Type == event.ResourceUpdateEvent {
			w.note(judge(e.Resource))
		}
		if w.settled() {
			stop() // the channel closes in its own time: keep reading
		}
	}
	if w.ready() {
		return nil
	}
	return w.failure(broken, ctx.Err())
}

// judge corrects kstatus in one point: to it an object without a status is current, but a
// Memcached without one has not been seen by its operator yet.
func judge(s *event.ResourceStatus) *event.ResourceStatus {
	if s.Identifier.GroupKind.Group != operatorGroup || s.Status != status.CurrentStatus {
		return s
	}
	if _, seen, _ := unstructured.NestedFieldNoCopy(s.Resource.Object, "status", "observedGeneration"); seen {
		return s
	}
	unseen := *s
	unseen.Status, unseen.Message = status.InProgressStatus, "no operator has looked at it yet: is one running?"
	return &unseen
}

// watch is what is known of the objects waited for.
type watch struct {
	ids    object.ObjMetadataSet
	latest map[object.ObjMetadata]*event.ResourceStatus
	report *reporter
}

func newWatch(objects []*unstructured.Unstructured, r *reporter) *watch {
	return &watch{
		ids:    object.UnstructuredSetToObjMetadataSet(objects),
		latest: map[object.ObjMetadata]*event.ResourceStatus{},
		report: r,
	}
}

// note takes in news, and passes on what a person wants to see: that something is waited for
// and why, and that the wait for it is over. Objects that were ready all along stay unmentioned.
func (w *watch) note(news *event.ResourceStatus) {
	last, known := w.latest[news.Identifier]
	w.latest[news.Identifier] = news
	switch {
	case news.Status == status.CurrentStatus && known && last.Status != status.CurrentStatus:
		w.report.say("%s is ready", nameOfID(news.Identifier))
	case news.Status != status.CurrentStatus && (!known || last.Message != news.Message):
		w.report.say("%s is not ready yet: %s", nameOfID(news.Identifier), messageOf(news))
	}
}

// ready: every object was seen, and is current.
func (w *watch) ready() bool {
	return w.all(func(s status.Status) bool { return s == status.CurrentStatus })
}

// settled: no object is still on its way.
func (w *watch) settled() bool {
	return w.all(func(s status.Status) bool { return s == status.CurrentStatus || s == status.FailedStatus })
}

func (w *watch) all(is func(status.Status) bool) bool {
	for _, id := range w.ids {
		if s := w.latest[id]; s == nil || !is(s.Status) {
			return false
		}
	}
	return true
}

// failure tells of each object that is not ready what it lacks, down to the Pods behind it.
func (w *watch) failure(polled, ended error) error {
	var lines []string
	for _, id := range w.ids {
		if s := w.latest[id]; s == nil {
			lines = append(lines, nameOfID(id)+": its status could not be read")
		} else if s.Status != status.CurrentStatus {
			lines = append(lines, describe(s, "")...)
		}
	}
	reason := "failed"
	switch {
	case polled != nil:
		reason = polled.Error()
	case errors.Is(ended, context.DeadlineExceeded):
		reason = "time is up (--timeout gives more)"
	case ended != nil:
		reason = "interrupted"
	}
	return fmt.Errorf("not ready, %s:\n  %s", reason, strings.Join(lines, "\n  "))
}

// describe is a line for the object and one for each object made from it that is not current.
func describe(s *event.ResourceStatus, indent string) []string {
	lines := []string{fmt.Sprintf("%s%s: %s", indent, nameOfID(s.Identifier), messageOf(s))}
	for _, generated := range s.GeneratedResources {
		if generated.Status != status.CurrentStatus {
			lines = append(lines, describe(generated, indent+"  ")...)
		}
	}
	return lines
}

func messageOf(s *event.ResourceStatus) string {
	message := cmp.Or(s.Message, s.Status.String())
	if s.Error != nil {
		message = s.Error.Error()
	}
	if reason := waitingReason(s.Resource); reason != "" {
		message += " (" + reason + ")"
	}
	return message
}

// waitingReason is why a Pod's containers do not start, which kstatus does not look into:
// most often an image that cannot be pulled.
func waitingReason(pod *unstructured.Unstructured) string {
	if pod == nil || pod.GetKind() != "Pod" {
		return ""
	}
	containers, _, _ := unstructured.NestedSlice(pod.Object, "status", "containerStatuses")
	for _, c := range containers {
		container, _ := c.(map[string]any)
		reason, found, _ := unstructured.NestedString(container, "state", "waiting", "reason")
		if !found {
			continue
		}
		text, _, _ := unstructured.NestedString(container, "state", "waiting", "message")
		return strings.TrimSuffix(reason+": "+text, ": ")
	}
	return ""
}
