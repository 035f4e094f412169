// Package observe reads what is there: the children of a Memcached and its nodes. It only reads.
package observe

import (
	"context"
	"fmt"
	"maps"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// Snapshot is what there was of a Memcached at one moment.
type Snapshot struct {
	// Children are the objects with the Memcached's name and our labels, by kind, and a Deployment without them where
	// there are nodes; what is not there is not in it. They come from the cache: read them, don't change them.
	Objects map[schema.GroupKind]client.Object

	// Nodes are the memcached Pods that are not being deleted, sorted by name.
	Pods []Pod

	// Oldest is when the oldest memcached Pod was made that has not ended, those that are being deleted among them; zero
	// where there is none.
	Oldest time.Time

	// Progressed is when the last of the Pods that are ready became so; zero where none is.
	Progressed time.Time
	// OpenPorts are those on which any memcached Pod can be reached that has not ended, terminating Pods among them.
	OpenPorts names.Ports

	// TLS and Auth are the Secrets that the spec names; nil where it names none.
	TLS, Auth *Secret
}

// Deployment returns the Deployment, or nil where there is none.
func (s Snapshot) Deployment() *appsv1.Deployment {
	deployment, _ := s.Objects[DeploymentKind.GroupKind()].(*appsv1.Deployment)
	return deployment
}

// DeployedPorts are the ports on which the Pods can be reached that the Deployment makes.
func (s Snapshot) DeployedPorts() names.Ports {
	if deployment := s.Deployment(); deployment != nil {
		return portsOf(&deployment.Spec.Template.Spec)
	}
	return 0
}

// Current is what the plan goes by.
func (s Snapshot) Current() plan.Current {
	current := plan.Current{
		Deployment: s.Deployment(), SecretsUsable: s.Usable(),
		OpenPorts:    s.OpenPorts | s.DeployedPorts(), // The Deployment may be about to make Pods that are not seen yet.
		ServicePorts: servicePorts(s.Objects[serviceKind.GroupKind()]),
	}
	for _, pod := range s.Pods {
		current.Pods = append(current.Pods, pod.Ports)
	}
	return current
}

// Collector reads what is there.
type Collector struct {
	// Cache is read for children and Pods.
	Cache client.Reader

	// Live is read where the cache can't tell.
	Live client.Reader

	Secrets *Secrets
}

// Collect reads the children of a Memcached and its nodes from the cache, and the Secrets that it names.
func (c Collector) Collect(ctx context.Context, mc *cachev1.Memcached) (Snapshot, error) {
	objects, err := collectObjects(ctx, c.Cache, client.ObjectKeyFromObject(mc), Kinds())
	if err != nil {
		return Snapshot{}, err
	}
	pods, err := collectPods(ctx, c.Cache, mc)
	if err != nil {
		return Snapshot{}, err
	}
	c.Secrets.follow(mc)
	snapshot := Snapshot{
		Objects: objects, Pods: podsOf(pods), Oldest: oldest(pods), OpenPorts: openPorts(pods),
		Progressed: progressed(pods),
		TLS:        c.Secrets.certificate(ctx, mc), Auth: c.Secrets.users(ctx, mc),
	}
	if !needsLiveDeployment(mc, snapshot) {
		return snapshot, nil
	}
	live, err := collectObjects(ctx, c.Live, client.ObjectKeyFromObject(mc), kindsOf(DeploymentKind))
	if err != nil {
		return Snapshot{}, err
	}
	maps.Copy(snapshot.Objects, live)
	return snapshot, nil
}

// needsLiveDeployment tells whether the Deployment has to be read past the cache: one that has lost our labels is not
// in it, though there are Pods, and the cache holds no managed fields, which tell whether the operator wrote what is
// recorded there.
func needsLiveDeployment(mc *cachev1.Memcached, snapshot Snapshot) bool {
	deployment := snapshot.Deployment()
	return deployment == nil && len(snapshot.Pods) > 0 || !plan.IsRecorded(mc, deployment)
}

func collectObjects(
	ctx context.Context, reader client.Reader, key client.ObjectKey, kinds []Kind,
) (map[schema.GroupKind]client.Object, error) {
	objects := map[schema.GroupKind]client.Object{}
	for _, kind := range kinds {
		child := kind.New()
		switch err := reader.Get(ctx, key, child); {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, fmt.Errorf("read %s %s: %w", kind.GroupKind().Kind, key, err)
		default:
			objects[kind.GroupKind()] = child
		}
	}
	return objects, nil
}

func collectPods(ctx context.Context, reader client.Reader, mc *cachev1.Memcached) ([]corev1.Pod, error) {
	pods := &corev1.PodList{}
	err := reader.List(ctx, pods, client.InNamespace(mc.Namespace), client.MatchingFields{PodIndex: mc.Name})
	if err != nil {
		return nil, fmt.Errorf("list the Pods of %s: %w", client.ObjectKeyFromObject(mc), err)
	}
	return pods.Items, nil
}
