package observe

// The Pods that answer clients with auto discovery, and their answers.

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/cached"
	"github.com/example-inc/memcached-operator/operator/internal/discovery"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// addDiscovery adds the Service of the discovery, even if the spec does not request it any more, and the Pods.
func (c Collector) addDiscovery(ctx context.Context, mc *cachev1.Memcached, s *Snapshot, pods []corev1.Pod) error {
	kind, _ := find(ServiceKind.GroupKind())
	service := client.ObjectKey{Namespace: mc.Namespace, Name: names.DiscoveryService(mc.Name)}
	if err := addObject(ctx, c.Cache, service, kind, s.Objects); err != nil || mc.Spec.Discovery == nil {
		return err
	}
	for i := range pods {
		s.Discovery = append(s.Discovery, discoveryPod(&pods[i]))
	}
	return nil
}

// serves reports whether the agent of a Pod can answer clients with auto discovery.
func serves(pod *corev1.Pod) bool { return cached.Ports(&pod.Spec).Has(names.DiscoveryPorts) }

func discoveryPod(pod *corev1.Pod) discovery.Pod {
	return discovery.Pod{
		Name: pod.Name, UID: string(pod.UID), IP: pod.Status.PodIP, Created: pod.CreationTimestamp.UTC(),
		Serves: serves(pod), Ready: cached.IsTrue(pod, corev1.PodReady),
		Leaving: pod.DeletionTimestamp != nil || hasEnded(pod),
		Answers: pod.Labels[names.LabelDiscovery] == "true", List: pod.Annotations[names.AnnotationDiscovery],
	}
}

// clusterIPs returns the cluster IPs of the Services, by name.
func (s Snapshot) clusterIPs() map[string]string {
	addresses := map[string]string{}
	for key, object := range s.Objects {
		if service, ok := object.(*corev1.Service); ok && service.Spec.ClusterIP != corev1.ClusterIPNone {
			addresses[key.Name] = service.Spec.ClusterIP
		}
	}
	return addresses
}
