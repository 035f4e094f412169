package observe

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Nodes counts the Nodes of the cluster by kind: the architecture and the operating system or, for Linux, the
// architecture alone. Nil means that the Nodes are unknown.
type Nodes map[string]int

// nodesPerPage is how many Nodes one request lists. CollectNodes counts and drops each page, to limit its memory in a
// large cluster.
const nodesPerPage = 500

// CollectNodes counts the Nodes of the cluster. It reads only their metadata.
func CollectNodes(ctx context.Context, reader client.Reader) (Nodes, error) {
	nodes := Nodes{}
	page := &metav1.PartialObjectMetadataList{}
	for {
		page.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NodeList"))
		if err := reader.List(ctx, page, client.Limit(nodesPerPage), client.Continue(page.Continue)); err != nil {
			return nil, fmt.Errorf("list the Nodes of the cluster: %w", err)
		}
		for i := range page.Items {
			nodes[nodeKind(page.Items[i].Labels)]++
		}
		if page.Continue == "" {
			return nodes, nil
		}
	}
}

// nodeKind describes a Node by the labels that the scheduler uses.
func nodeKind(labels map[string]string) string {
	architecture := labels[corev1.LabelArchStable]
	if architecture == "" {
		return "without the label " + corev1.LabelArchStable
	}
	switch system := labels[corev1.LabelOSStable]; system {
	case "linux":
		return architecture
	case "":
		return architecture + " without the label " + corev1.LabelOSStable
	default:
		return architecture + " with " + system
	}
}
