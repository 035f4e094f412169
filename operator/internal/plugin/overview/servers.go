package overview

// The slots of a cache with their Pods or, without slots, the Pods.

import (
	"cmp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/cached"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/access"
)

// Server is a memcached server: a slot with the Pod that serves it, or a Pod without one.
type Server struct {
	Slot   string `json:"slot,omitempty"`
	State  string `json:"state,omitempty"`
	Reason string `json:"reason,omitempty"`

	Pod      string     `json:"pod,omitempty"`
	Status   string     `json:"status,omitempty"`
	Node     string     `json:"node,omitempty"`
	Zone     string     `json:"zone,omitempty"`
	Version  string     `json:"version,omitempty"`
	Restarts int32      `json:"restarts"`
	Created  *time.Time `json:"created,omitempty"`
	Address  string     `json:"address,omitempty"`
}

// serversOf returns the slots in their order, then the Pods without a slot.
func serversOf(o access.Observed) []Server {
	var servers []Server
	placed := map[string]bool{}
	for _, slot := range o.Memcached.Status.Slots {
		server := Server{Pod: slot.Pod}
		if pod := podNamed(o.Pods, slot.Pod); pod != nil {
			server = serverOf(pod, o.Nodes)
		}
		server.Slot, server.State, server.Reason = slot.Name, string(slot.State), slot.Reason
		server.Address = cmp.Or(slot.Address, server.Address)
		servers = append(servers, server)
		placed[slot.Pod] = true
	}
	for i := range o.Pods {
		if pod := &o.Pods[i]; !placed[pod.Name] {
			servers = append(servers, serverOf(pod, o.Nodes))
		}
	}
	return servers
}

func podNamed(pods []corev1.Pod, name string) *corev1.Pod {
	for i := range pods {
		if pods[i].Name == name {
			return &pods[i]
		}
	}
	return nil
}

func serverOf(pod *corev1.Pod, nodes map[string]corev1.Node) Server {
	return Server{
		Pod: pod.Name, Status: StatusOf(pod), Node: pod.Spec.NodeName, Zone: zoneOf(pod, nodes),
		Version: versionOf(pod), Restarts: restartsOf(pod), Created: timeOf(&pod.CreationTimestamp),
		Address: pod.Status.PodIP,
	}
}

// StatusOf returns the state of a Pod in one word: for most Pods, the same word as kubectl get pods shows.
func StatusOf(pod *corev1.Pod) string {
	if !pod.DeletionTimestamp.IsZero() {
		return "Terminating"
	}
	for i := range pod.Status.ContainerStatuses {
		state := pod.Status.ContainerStatuses[i].State
		switch {
		case state.Waiting != nil && state.Waiting.Reason != "":
			return state.Waiting.Reason
		case state.Terminated != nil:
			return cmp.Or(state.Terminated.Reason, "Error")
		}
	}
	if cached.IsTrue(pod, corev1.PodReady) {
		return "Ready"
	}
	if pod.Status.Phase == corev1.PodRunning {
		return "NotReady"
	}
	return cmp.Or(pod.Status.Reason, string(pod.Status.Phase))
}

// zoneOf returns the zone of a Pod: newer API servers copy it from the Node to the Pod.
func zoneOf(pod *corev1.Pod, nodes map[string]corev1.Node) string {
	node := nodes[pod.Spec.NodeName]
	return cmp.Or(pod.Labels[corev1.LabelTopologyZone], node.Labels[corev1.LabelTopologyZone])
}

// versionOf returns the tag of memcached's image or, without one, the beginning of its digest.
func versionOf(pod *corev1.Pod) string {
	const digits = len("sha256:") + 8
	for i := range pod.Spec.Containers {
		if container := &pod.Spec.Containers[i]; container.Name == names.Container {
			image, digest, _ := strings.Cut(container.Image[strings.LastIndex(container.Image, "/")+1:], "@")
			_, tag, _ := strings.Cut(image, ":")
			return cmp.Or(tag, digest[:min(len(digest), digits)], "latest")
		}
	}
	return ""
}

func restartsOf(pod *corev1.Pod) int32 {
	restarts := int32(0)
	for i := range pod.Status.ContainerStatuses {
		restarts += pod.Status.ContainerStatuses[i].RestartCount
	}
	return restarts
}
