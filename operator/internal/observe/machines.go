package observe

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Machines counts the Nodes of the cluster by what they are: those with Linux under their bare architecture.
// Nil means that they are not known.
type Machines map[string]int

// machinesAtATime bounds what is held of a large cluster: a page is counted and dropped.
const machinesAtATime = 500

// CollectMachines counts the Nodes of the cluster. It reads nothing of them but their metadata.
func CollectMachines(ctx context.Context, reader client.Reader) (Machines, error) {
	machines := Machines{}
	page := &metav1.PartialObjectMetadataList{}
	for {
		page.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NodeList"))
		if err := reader.List(ctx, page, client.Limit(machinesAtATime), client.Continue(page.Continue)); err != nil {
			return nil, fmt.Errorf("list the Nodes of the cluster: %w", err)
		}
		for i := range page.Items {
			machines[machine(page.Items[i].Labels)]++
		}
		if page.Continue == "" {
			return machines, nil
		}
	}
}

// machine says what a Node is, by the labels that the scheduler goes by.
func machine(labels map[string]string) string {
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
