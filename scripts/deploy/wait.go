package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/ssa/utils"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/test/client/clientpod"
)

// state returns what an object waits for. The text is empty if the object no longer waits. An error ends the wait.
type state func(context.Context, *unstructured.Unstructured) (missing string, err error)

// wait prints what each object waits for, whenever that changes, until no object waits any more.
func (c *cluster) wait(ctx context.Context, objects []*unstructured.Unstructured, of state) error {
	printed := map[string]string{}
	err := wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (done bool, err error) {
		done = true
		for _, o := range objects {
			missing, err := of(ctx, o)
			if err != nil || ctx.Err() != nil { // The last answer says more than a timeout.
				return false, err
			}
			name := utils.FmtUnstructured(o)
			if missing != "" && missing != printed[name] {
				fmt.Fprintf(c.out, "%s: %s\n", name, missing)
			}
			printed[name] = missing
			done = done && missing == ""
		}
		return done, nil
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	lines := []string{"the time is over (--timeout gives more); these objects are not ready yet:"}
	for _, o := range objects {
		if missing := printed[utils.FmtUnstructured(o)]; missing != "" {
			lines = append(lines, utils.FmtUnstructured(o)+": "+missing)
		}
	}
	return errors.New(strings.Join(lines, "\n  "))
}

// unready is the state of an object that was applied. It checks itself whether a Memcached has a status, because
// kstatus takes a Memcached without a status as ready.
func (c *cluster) unready(ctx context.Context, o *unstructured.Unstructured) (missing string, err error) {
	live, err := c.find(ctx, o)
	switch {
	case err != nil:
		return err.Error(), nil // The API server may be restarting.
	case live == nil:
		return "it does not exist", nil
	}
	result, err := status.Compute(live)
	if err != nil {
		return "", err
	}
	_, seen, _ := unstructured.NestedFieldNoCopy(live.Object, "status", "observedGeneration")
	switch {
	case result.Status == status.FailedStatus:
		return "", fmt.Errorf("%s: %s", utils.FmtUnstructured(o), result.Message)
	case result.Status != status.CurrentStatus:
		return result.Message + c.waitingPods(ctx, live), nil
	case live.GroupVersionKind().Group == operatorGroup && !seen:
		return "no operator has set its status yet: check that an operator is running", nil
	case utils.IsCRD(live):
		_, err := c.Client.RESTMapper().RESTMapping(kindOf(live))
		if meta.IsNoMatchError(err) {
			return "the API server does not serve it yet", nil // The server may do so some time after Established is true.
		}
		return "", err
	}
	return "", nil
}

// kindOf returns the kind that a CRD defines.
func kindOf(crd *unstructured.Unstructured) schema.GroupKind {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	return schema.GroupKind{Group: group, Kind: kind}
}

// waitingPods returns why the Pods of a Deployment do not run, such as an image that cannot be pulled.
func (c *cluster) waitingPods(ctx context.Context, live *unstructured.Unstructured) (why string) {
	labels, _, _ := unstructured.NestedStringMap(live.Object, "spec", "selector", "matchLabels")
	if len(labels) == 0 {
		return ""
	}
	of := []client.ListOption{client.InNamespace(live.GetNamespace()), client.MatchingLabels(labels)}
	for _, reason := range clientpod.Waiting(ctx, c.Client, of...) {
		why += "; Pod " + reason
	}
	return why
}

// remaining is a state of an object that is being deleted: it returns what delays the deletion.
func (c *cluster) remaining(ctx context.Context, o *unstructured.Unstructured) (missing string, err error) {
	live, err := c.find(ctx, o)
	if err != nil || live == nil {
		return "", err
	}
	delays := append([]string{"it is being deleted"}, live.GetFinalizers()...)
	conditions, err := status.GetObjectWithConditions(live.Object)
	if err != nil {
		return "", err
	}
	for _, condition := range conditions.Status.Conditions {
		if condition.Status == corev1.ConditionTrue && condition.Message != "" {
			delays = append(delays, condition.Message)
		}
	}
	return strings.Join(delays, ": "), nil
}
