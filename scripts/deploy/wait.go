package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling"
	"github.com/fluxcd/cli-utils/pkg/kstatus/polling/event"
	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/cli-utils/pkg/object"
	"github.com/fluxcd/pkg/ssa/utils"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// pollInterval is short: a person waits, and a poll is one list for each kind.
const pollInterval = time.Second

// statuses are the latest ones of objects.
type statuses map[object.ObjMetadata]*event.ResourceStatus

// waitFor waits until kstatus reports the status for all objects, or a failure. Unlike that of
// ResourceManager.WaitForSet, its error has the reasons, down to the Pods.
func (c *cluster) waitFor(ctx context.Context, want status.Status, objects []*unstructured.Unstructured) error {
	if len(objects) == 0 {
		return nil // the poller would wait for the end of the context
	}
	poll, stop := context.WithCancel(ctx)
	defer stop()
	latest := statuses{}
	ids := object.UnstructuredSetToObjMetadataSet(objects)
	for _, id := range ids {
		latest[id] = &event.ResourceStatus{Identifier: id, Message: "its status could not be read"}
	}
	var cause error
	for e := range c.poller.Poll(poll, ids, polling.PollOptions{PollInterval: pollInterval}) {
		cause = cmp.Or(cause, e.Error)
		if e.Type == event.ResourceUpdateEvent {
			s := corrected(*e.Resource)
			if s.Status != want && s.Message != latest[s.Identifier].Message {
				fmt.Fprintf(c.out, "%s: %s\n", utils.FmtObjMetadata(s.Identifier), s.Message)
			}
			latest[s.Identifier] = s
		}
		if len(latest.others(ids, want, status.FailedStatus)) == 0 {
			stop() // the poller closes the channel some time later
		}
	}
	lines := latest.others(ids, want)
	if len(lines) == 0 {
		return nil
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		cause = errors.New("timeout (--timeout gives more time)")
	}
	return fmt.Errorf("waiting for status %s: %w:\n  %s", want, cmp.Or(cause, errors.New("failed")),
		strings.Join(lines, "\n  "))
}

// others describes the objects that have none of the wanted statuses.
func (latest statuses) others(ids object.ObjMetadataSet, wanted ...status.Status) []string {
	var lines []string
	for _, id := range ids {
		if !slices.Contains(wanted, latest[id].Status) {
			lines = append(lines, describe(latest[id], "")...)
		}
	}
	return lines
}

// corrected reports a Memcached without a status as in progress: for kstatus it is current.
func corrected(s event.ResourceStatus) *event.ResourceStatus {
	if s.Identifier.GroupKind.Group == operatorGroup && s.Status == status.CurrentStatus {
		_, seen, _ := unstructured.NestedFieldNoCopy(s.Resource.Object, "status", "observedGeneration")
		if !seen {
			s.Status, s.Message = status.InProgressStatus, "no operator has set its status yet: is one running?"
		}
	}
	return &s
}

// describe returns a line for an object, and one for each object created from it that is not ready.
func describe(s *event.ResourceStatus, indent string) []string {
	lines := []string{fmt.Sprintf("%s%s: %s", indent, utils.FmtObjMetadata(s.Identifier), messageOf(s))}
	for _, generated := range s.GeneratedResources {
		if generated.Status != status.CurrentStatus {
			lines = append(lines, describe(generated, indent+"  ")...)
		}
	}
	return lines
}

// messageOf adds to the message of kstatus why a Pod's container does not start, and what delays a deletion.
func messageOf(s *event.ResourceStatus) string {
	if s.Error != nil {
		return s.Error.Error()
	}
	details := []string{cmp.Or(s.Message, s.Status.String())}
	if s.Resource == nil {
		return details[0]
	}
	var o struct {
		Status struct {
			Conditions        []metav1.Condition       `json:"conditions"`
			ContainerStatuses []corev1.ContainerStatus `json:"containerStatuses"`
		} `json:"status"`
	}
	_ = runtime.DefaultUnstructuredConverter.FromUnstructured(s.Resource.Object, &o) // what does not fit is left out
	for _, container := range o.Status.ContainerStatuses {
		if waiting := container.State.Waiting; waiting != nil {
			details = append(details, waiting.Reason, waiting.Message)
		}
	}
	if s.Status == status.TerminatingStatus {
		for _, condition := range o.Status.Conditions {
			if condition.Status == metav1.ConditionTrue {
				details = append(details, condition.Message)
			}
		}
		details = append(details, s.Resource.GetFinalizers()...)
	}
	return strings.Join(slices.DeleteFunc(details, func(s string) bool { return s == "" }), ": ")
}
