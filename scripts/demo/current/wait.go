package current

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/scripts/demo/argo"
	"github.com/example-inc/memcached-operator/scripts/demo/check"
	"github.com/example-inc/memcached-operator/scripts/demo/clientpod"
)

// pollInterval is how often Argo CD is asked.
const pollInterval = time.Second

// brief is how much of a message fits on the line of a stage.
const brief = 80

// waitHealthy waits until the root Application and all below it are synced to the commit, and healthy.
func (d *demo) waitHealthy(ctx context.Context, commit string, update func(string)) error {
	last := ""
	refreshed := map[string]bool{}
	healthy := func(ctx context.Context) (bool, error) {
		waiting, err := d.unhealthy(ctx, commit)
		switch {
		case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
			return false, err
		case ctx.Err() != nil: // What was seen before tells more.
			return false, nil
		case err != nil: // An API server may be restarted while it is waited for.
			last = err.Error()
		case len(waiting) == 0:
			return true, nil
		default:
			last = mostTelling(waiting).String() + d.trouble(ctx)
			d.refresh(ctx, waiting, commit, refreshed)
		}
		update(shorten(last))
		return false, nil
	}
	err := wait.PollUntilContextTimeout(ctx, pollInterval, d.options.Timeout, true, healthy)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return fmt.Errorf("after %s (--timeout), at commit %.7s: %s (docs/gitops.md, When something is wrong)",
			d.options.Timeout, commit, last)
	}
	return err
}

// unhealthy are the Applications that are not synced to the commit and healthy, those below the root first.
func (d *demo) unhealthy(ctx context.Context, commit string) (waiting []*argo.Application, err error) {
	root, err := d.read(ctx, argo.Root)
	if err != nil {
		return nil, err
	}
	for _, name := range root.Children {
		child, err := d.read(ctx, name)
		if err != nil {
			return nil, err
		}
		if !child.Healthy(commit) {
			waiting = append(waiting, child)
		}
	}
	if !root.Healthy(commit) {
		waiting = append(waiting, root)
	}
	return waiting, nil
}

// mostTelling is an Application below the root that tells of an error, or else one that is there. The root only tells
// which of them it waits for.
func mostTelling(waiting []*argo.Application) *argo.Application {
	for _, telling := range []func(*argo.Application) bool{
		func(a *argo.Application) bool { return a.Name != argo.Root && len(a.Messages) > 0 },
		func(a *argo.Application) bool { return a.Name != argo.Root && a.Sync != "" },
		func(a *argo.Application) bool { return len(a.Messages) > 0 },
	} {
		if i := slices.IndexFunc(waiting, telling); i >= 0 {
			return waiting[i]
		}
	}
	return waiting[0]
}

// refresh makes Argo CD look for the commit, once for each Application: by itself it does so every few minutes only.
func (d *demo) refresh(ctx context.Context, waiting []*argo.Application, commit string, done map[string]bool) {
	for _, application := range waiting {
		if application.Revision == "" || application.Revision == commit || done[application.Name] {
			continue
		}
		done[application.Name] = argo.Refresh(ctx, d.Kube.Client, d.ArgoCDNamespace, application.Name) == nil
	}
}

// read reads an Application. One that is not there is neither synced nor healthy.
func (d *demo) read(ctx context.Context, name string) (*argo.Application, error) {
	application, err := argo.Read(ctx, d.Kube.Client, d.ArgoCDNamespace, name)
	if application == nil && err == nil {
		application = &argo.Application{Name: name, Health: "Missing"}
	}
	return application, err
}

// trouble is what keeps a Pod from running: an image that can't be pulled, above all.
func (d *demo) trouble(ctx context.Context) string {
	for _, namespace := range []string{check.OperatorNamespace, check.Namespace} {
		pods := &corev1.PodList{}
		if err := d.Kube.Client.List(ctx, pods, client.InNamespace(namespace)); err != nil {
			continue // It is an addition to what the Applications say.
		}
		for i := range pods.Items {
			if trouble := clientpod.Waiting(&pods.Items[i]); trouble != "" {
				return "; Pod " + trouble
			}
		}
	}
	return ""
}

// shorten cuts what would not fit on a line.
func shorten(message string) string {
	runes := []rune(strings.ReplaceAll(message, "\n", " "))
	if len(runes) <= brief {
		return string(runes)
	}
	return string(runes[:brief-1]) + "…"
}
