package actions

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// onNode is the argument of actions on one Node or on all Nodes.
type onNode struct {
	lasting

	Node int  `json:"node"` // index of the Node, sorted by name, modulo the number of Nodes
	All  bool `json:"all,omitempty"`
}

func nodes() []Action {
	onOne := func(r *rand.Rand) any { return onNode{lasting: drawLasting(r), Node: r.IntN(100)} }
	oneOrAll := func(r *rand.Rand) any { return onNode{drawLasting(r), r.IntN(100), r.IntN(3) == 0} }
	return simulated([]Action{
		{plan.Action{Name: "a Node is cordoned", Weight: 2, Draw: oneOrAll}, given(cordon)},
		{plan.Action{Name: "a Node gets a taint that evicts Pods", Weight: 1, Draw: oneOrAll}, given(taint)},
		{plan.Action{Name: "a Node is lost", Weight: 2, Draw: onOne}, given(loseNode)},
	})
}

// chosen returns the Nodes that the step changes.
func (n onNode) chosen(ctx context.Context, w *world.World) ([]corev1.Node, error) {
	list := &corev1.NodeList{}
	err := ask(ctx, func(ctx context.Context) error { return w.Client.List(ctx, list) })
	if n.All || err != nil || len(list.Items) == 0 {
		return list.Items, err
	}
	slices.SortFunc(list.Items, func(a, b corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	i := n.Node % len(list.Items)
	return list.Items[i : i+1], nil
}

func cordon(ctx context.Context, w *world.World, _ plan.Step, with onNode) error {
	return changeNodes(ctx, w, with,
		func(node *corev1.Node) { node.Spec.Unschedulable = true },
		func(node *corev1.Node) { node.Spec.Unschedulable = false })
}

func taint(ctx context.Context, w *world.World, _ plan.Step, with onNode) error {
	evict := corev1.Taint{Key: "example.com/maintenance", Effect: corev1.TaintEffectNoExecute}
	is := func(t corev1.Taint) bool { return t.MatchTaint(&evict) }
	return changeNodes(ctx, w, with,
		func(node *corev1.Node) {
			if !slices.ContainsFunc(node.Spec.Taints, is) {
				node.Spec.Taints = append(node.Spec.Taints, evict)
			}
		},
		func(node *corev1.Node) { node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, is) })
}

// changeNodes changes Nodes for a while.
func changeNodes(ctx context.Context, w *world.World, with onNode, change, undo func(*corev1.Node)) error {
	chosen, err := with.chosen(ctx, w)
	if err != nil {
		return err
	}
	all := func(ctx context.Context, change func(*corev1.Node)) error {
		var errs []error
		for _, node := range chosen {
			errs = append(errs, updateNode(ctx, w, node.Name, change))
		}
		return errors.Join(errs...)
	}
	if err := all(ctx, change); err != nil {
		return err
	}
	endAfter(ctx, w, with.For.Duration, func(ctx context.Context) error { return all(ctx, undo) })
	return nil
}

// updateNode changes a Node, unless another step has removed it.
func updateNode(ctx context.Context, w *world.World, name string, change func(*corev1.Node)) error {
	return attempt(ctx, func(ctx context.Context) error {
		node := &corev1.Node{}
		if err := w.Client.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
			return err
		}
		change(node)
		return w.Client.Update(ctx, node)
	})
}

// loseNode removes a Node with its Pods, and adds one like it later.
func loseNode(ctx context.Context, w *world.World, _ plan.Step, with onNode) error {
	chosen, err := with.chosen(ctx, w)
	if err != nil || len(chosen) == 0 {
		return err
	}
	lost := chosen[0]
	if err := removeNode(ctx, w, lost.Name); err != nil {
		return err
	}
	added := likeNode(&lost, newName(w, lost.Labels[corev1.LabelArchStable]))
	endAfter(ctx, w, with.For.Duration, func(ctx context.Context) error { return addNode(ctx, w, added) })
	return nil
}

// likeNode returns a Node with the labels and the room of the lost Node.
func likeNode(lost *corev1.Node, name string) local.Node {
	like := local.Node{
		Name: name, Architecture: lost.Labels[corev1.LabelArchStable], OS: lost.Labels[corev1.LabelOSStable],
		Labels: maps.Clone(lost.Labels), Room: lost.Status.Allocatable,
	}
	delete(like.Labels, corev1.LabelHostname)
	return like
}

// removeNode is like nodes.Remove, but repeats requests that the API server does not answer.
func removeNode(ctx context.Context, w *world.World, name string) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := attempt(ctx, func(ctx context.Context) error { return w.Client.Delete(ctx, node) }); err != nil {
		return err
	}
	pods := &corev1.PodList{}
	err := ask(ctx, func(ctx context.Context) error {
		return w.Client.List(ctx, pods, client.MatchingFields{"spec.nodeName": name})
	})
	if err != nil {
		return err
	}
	for i := range pods.Items {
		if err := deletePod(ctx, w, &pods.Items[i], client.GracePeriodSeconds(0)); err != nil {
			return err
		}
	}
	return nil
}

// addNode adds a Node. It is no error if the Node already exists, because the API server may have created it without
// answering.
func addNode(ctx context.Context, w *world.World, added local.Node) error {
	err := ask(ctx, func(ctx context.Context) error { return w.Cluster.AddNode(ctx, added) })
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	key := client.ObjectKey{Name: added.Name}
	return ask(ctx, func(ctx context.Context) error { return w.Client.Get(ctx, key, &corev1.Node{}) })
}
