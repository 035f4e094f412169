package actions

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// byOthers are the faults that other clients, limits, Pods and Nodes cause.
func byOthers() []Action {
	return slices.Concat(edits(), additions(), objects(), memcacheds(), secrets(), limits(), admission(), pods(), nodes(),
		rights(), slotFaults(), uses())
}

// onlyOn restricts actions to clusters with one kind of Nodes, simulated or real.
func onlyOn(nodes plan.Nodes, actions []Action) []Action {
	for i := range actions {
		actions[i].Only = nodes
	}
	return actions
}

// simulated restricts actions to simulated Nodes. A real kubelet would revert these actions, or could not pull an
// image.
func simulated(actions []Action) []Action {
	return onlyOn(plan.SimulatedNodes, actions)
}

// intrude is like attempt, but ignores one more error: the API server refuses the request as invalid, because of other
// steps. For example, no finalizer can be added to an object that is being deleted.
func intrude(ctx context.Context, request func(context.Context) error) error {
	err := attempt(ctx, request)
	if apierrors.IsInvalid(err) {
		return nil
	}
	return err
}

// thirdParty is the field manager of another client.
const thirdParty = client.FieldOwner("third-party")

const (
	mergePatch     = types.MergePatchType
	strategicPatch = types.StrategicMergePatchType
)

// kinds are the kinds of the managed objects, by name, and ReplicaSet, which the Deployment controller manages.
var kinds = map[string]schema.GroupVersionKind{
	"Service":             {Version: "v1", Kind: "Service"},
	"Deployment":          {Group: "apps", Version: "v1", Kind: "Deployment"},
	"NetworkPolicy":       {Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"},
	"PodDisruptionBudget": {Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	"ReplicaSet":          {Group: "apps", Version: "v1", Kind: "ReplicaSet"},
	"EndpointSlice":       {Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSlice"},
	slotService:           {Version: "v1", Kind: "Service"},
}

// drawKind prefers Deployments, because they have the most fields.
func drawKind(r *rand.Rand) string {
	return one(r, "Service", "Deployment", "Deployment", "NetworkPolicy", "PodDisruptionBudget", "EndpointSlice",
		slotService)
}

// target reads the object of this kind that belongs to a cache, or that has the name of such an object. Of several
// ReplicaSets, it returns the first by name. If no object exists, the error is NotFound.
func target(ctx context.Context, w *world.World, kind, cache string) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kinds[kind])
	if kind != "ReplicaSet" {
		return object, w.Client.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: nameOf(kind, cache)}, object)
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kinds[kind])
	err := w.Client.List(ctx, list, client.InNamespace(w.Namespace), client.MatchingLabels(podLabels(cache)))
	if err != nil {
		return nil, err
	}
	if len(list.Items) == 0 {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: kind}, cache)
	}
	first := slices.MinFunc(list.Items, func(a, b unstructured.Unstructured) int {
		return cmp.Compare(a.GetName(), b.GetName())
	})
	return &first, nil
}

// onTarget reads the target, and calls change with it. It ignores the same errors as intrude.
func onTarget(
	ctx context.Context, w *world.World, kind, cache string,
	change func(context.Context, *unstructured.Unstructured) error,
) error {
	return intrude(ctx, func(ctx context.Context) error {
		object, err := target(ctx, w, kind, cache)
		if err != nil {
			return err
		}
		return change(ctx, object)
	})
}
