// Package nodes removes simulated Nodes from a local cluster.
package nodes

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Remove deletes a simulated Node, and the Pods on it, because no kubelet ends them. The next Node needs another name,
// because kwok does not always see a Node that is created under the same name immediately afterwards.
func Remove(ctx context.Context, kube client.Client, name string) error {
	if err := kube.Delete(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		return fmt.Errorf("remove Node %s: %w", name, err)
	}
	pods := &corev1.PodList{}
	if err := kube.List(ctx, pods, client.MatchingFields{"spec.nodeName": name}); err != nil {
		return fmt.Errorf("list the Pods of Node %s: %w", name, err)
	}
	for i := range pods.Items {
		err := kube.Delete(ctx, &pods.Items[i], client.GracePeriodSeconds(0))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("remove Pod %s of Node %s: %w", pods.Items[i].Name, name, err)
		}
	}
	return nil
}
