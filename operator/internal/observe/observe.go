// Package observe reads the managed objects and the Pods of a Memcached. It only reads.
package observe

// Reads the managed objects, the Pods and the Secrets of a Memcached into a Snapshot.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/cached"
	"github.com/example-inc/memcached-operator/operator/internal/discovery"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/secrets"
)

// Snapshot is the observed state of a Memcached.
type Snapshot struct {
	// Name is the name of the Memcached.
	Name string

	// Objects are the existing objects with the names of managed objects and the operator's labels. If there are Pods, a
	// Deployment without these labels is included. The objects come from the cache: do not change them.
	Objects map[Key]client.Object

	// Pods are the memcached Pods that are not terminating, sorted by name.
	Pods []Pod

	// Oldest is the creation time of the oldest memcached Pod that has not ended, including terminating ones; zero if
	// there is none.
	Oldest time.Time

	// Progressed is when the last of the ready Pods became ready; zero if no Pod is ready.
	Progressed time.Time
	// OpenPorts are the ports of all memcached Pods that have not ended, including terminating ones.
	OpenPorts names.Ports

	// Slots is the observed state of the slots, and Versions are the resource versions of the observed Pods, by uid.
	// Both are zero for a Memcached without slots.
	Slots    plan.CurrentSlots
	Versions map[string]string

	// Discovery has the Pods, each with its answer to clients with auto discovery; empty if the spec does not request
	// it.
	Discovery []discovery.Pod

	// Bootstrap is the observed state of the copy of keys from other servers; zero if the spec does not request it.
	Bootstrap plan.CurrentBootstrap

	// Usage has the reports of Pods about how the cache is used; zero if the spec does not request them.
	Usage plan.Usage

	// TLS and Auth are the Secrets that the spec names; nil if it names none.
	TLS, Auth *secrets.State
}

// Deployment returns the Deployment, or nil if there is none.
func (s Snapshot) Deployment() *appsv1.Deployment {
	deployment, _ := s.Main(DeploymentKind.GroupKind()).(*appsv1.Deployment)
	return deployment
}

// Main returns the object of a kind that has the Memcached's name, or nil if there is none.
func (s Snapshot) Main(kind schema.GroupKind) client.Object { return s.Objects[Key{kind, s.Name}] }

// DeployedPorts returns the ports of the Pods that the Deployment creates.
func (s Snapshot) DeployedPorts() names.Ports {
	if deployment := s.Deployment(); deployment != nil {
		return cached.Ports(&deployment.Spec.Template.Spec)
	}
	return 0
}

// Current returns the observed state on which the plan depends.
func (s Snapshot) Current() plan.Current {
	current := plan.Current{
		Deployment: s.Deployment(), SecretsUsable: s.Usable(), Slots: s.Slots, Discovery: s.Discovery, Bound: s.bound(),
		Bootstrap:     s.Bootstrap,
		Usage:         s.Usage,
		UnownedSecret: s.TLS.ExistsForOther(s.Name),
		OpenPorts:     s.OpenPorts | s.DeployedPorts(), // New Pods may not be in the cache yet.
		ServicePorts:  servicePorts(s.Main(ServiceKind.GroupKind())),
	}
	for _, pod := range s.Pods {
		current.Pods = append(current.Pods, pod.Ports)
	}
	if len(s.Discovery) > 0 {
		current.SlotAddresses = s.clusterIPs()
	}
	return current
}

// Usable reports whether new Pods can start with the Secrets.
func (s Snapshot) Usable() bool { return s.TLS.Usable() && s.Auth.Usable() }

// Err returns why Secrets cannot be read.
func (s Snapshot) Err() error {
	var problems []error
	for _, secret := range []*secrets.State{s.TLS, s.Auth} {
		if secret != nil {
			problems = append(problems, secret.Err)
		}
	}
	return errors.Join(problems...)
}

// Collector reads the observed state.
type Collector struct {
	// Cache is read for managed objects and Pods.
	Cache client.Reader

	// Live is the API server, which is read for objects that the cache does not hold.
	Live client.Reader

	// Secrets reads the Secrets that a Memcached names.
	Secrets *secrets.Memory
}

// Extras says which features a Memcached has, or had, that not every Memcached has.
type Extras struct{ Slots, Binding, Certificate bool }

// Collect reads the managed objects and Pods of a Memcached from the cache, and the Secrets that it names. It reads the
// objects of slots, a binding and an issuer only if the Memcached has these, or had them before.
func (c Collector) Collect(ctx context.Context, mc *cachev1.Memcached, has Extras) (Snapshot, error) {
	objects, err := c.collectManaged(ctx, mc, has)
	if err != nil {
		return Snapshot{}, err
	}
	pods, err := collectPods(ctx, c.Cache, mc.Namespace, mc.Name)
	if err != nil {
		return Snapshot{}, err
	}
	snapshot := Snapshot{
		Name: mc.Name, Objects: objects, Pods: podsOf(pods), Oldest: oldest(pods), OpenPorts: openPorts(pods),
		Progressed: progressed(pods),
		TLS:        c.Secrets.Certificate(ctx, mc), Auth: c.Secrets.Users(ctx, mc),
	}
	if needsLiveDeployment(mc, snapshot) {
		live, err := collectObjects(ctx, c.Live, client.ObjectKeyFromObject(mc), kindsOf(DeploymentKind))
		if err != nil {
			return Snapshot{}, err
		}
		maps.Copy(snapshot.Objects, live)
	}
	if has.Slots || mc.Spec.Discovery != nil {
		if pods, err = c.readAgain(ctx, pods); err != nil {
			return snapshot, err
		}
	}
	if has.Slots {
		err = c.addSlots(ctx, mc, &snapshot, pods)
	}
	return snapshot, errors.Join(err, c.addDiscovery(ctx, mc, &snapshot, pods), c.addBootstrap(ctx, mc, &snapshot))
}

// collectManaged reads the managed objects.
func (c Collector) collectManaged(
	ctx context.Context, mc *cachev1.Memcached, has Extras,
) (map[Key]client.Object, error) {
	objects, err := collectObjects(ctx, c.Cache, client.ObjectKeyFromObject(mc), Kinds())
	if err == nil && has.Slots {
		err = c.addSlotObjects(ctx, mc, objects)
	}
	if err == nil && has.Binding {
		err = c.addBinding(ctx, mc, objects)
	}
	if err == nil && has.Certificate {
		err = c.addCertificate(ctx, mc, objects)
	}
	return objects, err
}

// needsLiveDeployment reports whether the Deployment must be read from the API server. A Deployment that lost its
// labels is not in the cache, although its Pods are. Besides, the cache holds no managed fields, which show whether the
// operator wrote the recorded template inputs.
func needsLiveDeployment(mc *cachev1.Memcached, snapshot Snapshot) bool {
	deployment := snapshot.Deployment()
	return deployment == nil && len(snapshot.Pods) > 0 || !plan.IsRecorded(mc, deployment)
}

func collectObjects(
	ctx context.Context, reader client.Reader, key client.ObjectKey, kinds []Kind,
) (map[Key]client.Object, error) {
	objects := map[Key]client.Object{}
	for _, kind := range kinds {
		if err := addObject(ctx, reader, key, kind, objects); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// addObject reads an object, if it exists.
func addObject(
	ctx context.Context, reader client.Reader, key client.ObjectKey, kind Kind, objects map[Key]client.Object,
) error {
	object := kind.New()
	switch err := reader.Get(ctx, key, object); {
	case apierrors.IsNotFound(err):
	case err != nil:
		return fmt.Errorf("read %s %s: %w", kind.GroupKind().Kind, key, err)
	default:
		objects[Key{kind.GroupKind(), key.Name}] = object
	}
	return nil
}

func collectPods(ctx context.Context, reader client.Reader, namespace, instance string) ([]corev1.Pod, error) {
	pods := &corev1.PodList{}
	err := reader.List(ctx, pods, client.InNamespace(namespace), client.MatchingFields{PodIndex: instance})
	if err != nil {
		return nil, fmt.Errorf("list the Pods of %s/%s: %w", namespace, instance, err)
	}
	return pods.Items, nil
}

// readAgain reads again each Pod that the operator may have changed, because a list from the cache may miss the
// operator's own last writes.
func (c Collector) readAgain(ctx context.Context, listed []corev1.Pod) ([]corev1.Pod, error) {
	var pods []corev1.Pod
	for i := range listed {
		pod := listed[i]
		if cached.IsGated(&pod) || serves(&pod) || cached.IsBootstrap(&pod) {
			pod = corev1.Pod{}
			err := c.Cache.Get(ctx, client.ObjectKeyFromObject(&listed[i]), &pod)
			if apierrors.IsNotFound(err) {
				continue
			} else if err != nil {
				return nil, fmt.Errorf("read Pod %s: %w", listed[i].Name, err)
			}
		}
		pods = append(pods, pod)
	}
	return pods, nil
}
