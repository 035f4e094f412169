package local

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// nodeTimeout is how long a simulated Node may take to be ready, which normally takes less than a second.
const nodeTimeout = 2 * time.Minute

// Node is a simulated Node.
type Node struct {
	Name string
	// Architecture is the value of the label kubernetes.io/arch. If it is empty, the Node does not have this label.
	Architecture string
	// OS is the value of the label kubernetes.io/os, linux unless it is set.
	OS     string
	Labels map[string]string
	Taints []corev1.Taint
	// Room is the capacity of the Node for Pods. It is 4 CPUs, 8 GiB and 110 Pods by default.
	Room corev1.ResourceList
}

// AddNode adds a simulated Node and returns when Pods can be scheduled to it.
func (c *Cluster) AddNode(ctx context.Context, node Node) error {
	config, err := c.RESTConfig()
	if err != nil {
		return err
	}
	kube, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	object := node.object()
	if err := kube.Create(ctx, object); err != nil {
		return fmt.Errorf("add Node %s: %w", node.Name, err)
	}
	open := func(ctx context.Context) (bool, error) {
		err := kube.Get(ctx, client.ObjectKeyFromObject(object), object)
		return isOpen(object), err
	}
	if err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, nodeTimeout, true, open); err != nil {
		return fmt.Errorf("Node %s is not ready: %w", node.Name, err)
	}
	return nil
}

// addFirstNodes adds the first simulated Nodes, one for each architecture in the list, and names them after their
// architectures.
func (c *Cluster) addFirstNodes(ctx context.Context, architectures []string, update func(string)) error {
	count := map[string]int{}
	for _, architecture := range architectures {
		count[architecture]++
		node := Node{Name: fmt.Sprintf("%s-%d", architecture, count[architecture]), Architecture: architecture}
		if err := c.AddNode(ctx, node); err != nil {
			return err
		}
		update(node.Name + " is ready")
	}
	return nil
}

func (n Node) object() *corev1.Node {
	labels := map[string]string{corev1.LabelHostname: n.Name, corev1.LabelOSStable: cmp.Or(n.OS, "linux")}
	if n.Architecture != "" {
		labels[corev1.LabelArchStable] = n.Architecture
	}
	maps.Copy(labels, n.Labels)
	room := n.Room
	if room == nil {
		room = Room("4", "8Gi")
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: labels},
		Spec:       corev1.NodeSpec{Taints: n.Taints},
		Status: corev1.NodeStatus{
			Capacity: room, Allocatable: room,
			NodeInfo: corev1.NodeSystemInfo{Architecture: n.Architecture, OperatingSystem: labels[corev1.LabelOSStable]},
		},
	}
}

// Room returns the capacity of a Node with this much CPU and memory.
func Room(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(cpu),
		corev1.ResourceMemory: resource.MustParse(memory),
		corev1.ResourcePods:   resource.MustParse("110"),
	}
}

// isOpen reports whether a Node is ready, and Kubernetes has removed the taint that new Nodes have.
func isOpen(node *corev1.Node) bool {
	ready := slices.ContainsFunc(node.Status.Conditions, func(condition corev1.NodeCondition) bool {
		return condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue
	})
	return ready && !slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		return taint.Key == corev1.TaintNodeNotReady
	})
}
