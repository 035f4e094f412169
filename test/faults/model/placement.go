package model

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// wrongPeers returns which clients a NetworkPolicy admits although the spec does not admit them, or which it should
// admit and does not.
func wrongPeers(body *object, mc *cachev1.Memcached) string {
	policy, _ := value(body, "spec").(map[string]any)
	rules := decoded[networkingv1.NetworkPolicySpec](policy).Ingress
	wanted := orEmpty(mc.Spec.NetworkPolicy)
	for i, peers := range [][]networkingv1.NetworkPolicyPeer{wanted.From, wanted.MetricsFrom} {
		if i == 1 && len(rules) == 1 {
			continue // The Pods have no metrics.
		}
		if i >= len(rules) || !equality.Semantic.DeepEqual(rules[i].From, peers) &&
			(i > 0 || len(peers) == 0 || !equality.Semantic.DeepEqual(rules[i].From, withPods(peers, mc))) {
			return fmt.Sprintf("spec.ingress is %s, and rule %d must be for %s", encoded(rules), i, encoded(peers))
		}
	}
	return ""
}

// withPods adds the Pods of the cache to the peers. With slots, the agent of one Pod copies the keys of another Pod.
// The Pod of a bootstrap, or a Job that restores a snapshot, copies keys to the Pods.
func withPods(peers []networkingv1.NetworkPolicyPeer, mc *cachev1.Memcached) []networkingv1.NetworkPolicyPeer {
	all := append(slices.Clone(peers), networkingv1.NetworkPolicyPeer{
		PodSelector: &metav1.LabelSelector{MatchLabels: selectorOf(mc)},
	})
	if mc.Spec.Bootstrap != nil {
		pods := map[string]string{"cache.example.com/snapshot": mc.Name}
		if movesIn(mc) {
			pods = bootstrapSelector(mc.Name)
		}
		all = append(all, networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{MatchLabels: pods}})
	}
	return all
}

// wrongPlace returns what is wrong with the resources of memcached, and the Nodes that its Pods may run on.
func wrongPlace(body *object, mc *cachev1.Memcached) string {
	template, _ := value(body, "spec", "template", "spec").(map[string]any)
	pod := decoded[corev1.PodSpec](template)
	placement := orEmpty(mc.Spec.Placement)
	if !equality.Semantic.DeepEqual(pod.NodeSelector, placement.NodeSelector) {
		return fmt.Sprintf("the node selector is %v, not %v", pod.NodeSelector, placement.NodeSelector)
	}
	if is, want := tolerated(pod.Tolerations), tolerated(placement.Tolerations); !slices.Equal(is, want) {
		return fmt.Sprintf("the tolerations are %v, not %v", is, want)
	}
	resources, has := orEmpty(mc.Spec.Resources), pod.Containers[0].Resources
	for kind, lists := range map[string][2]corev1.ResourceList{
		"request": {resources.Requests, has.Requests}, "limit": {resources.Limits, has.Limits},
	} {
		for name, want := range lists[0] {
			want = want.DeepCopy()
			want.RoundUp(resource.Milli) // as the API server does
			if is := lists[1][name]; is.Cmp(want) != 0 {
				return fmt.Sprintf("the %s of %s is %s, not %s", kind, name, is.String(), want.String())
			}
		}
	}
	return ""
}

// tolerated returns the tolerations as a sorted set.
func tolerated(tolerations []corev1.Toleration) []string {
	var set []string
	for _, toleration := range tolerations {
		if toleration.Operator == "" {
			toleration.Operator = corev1.TolerationOpEqual
		}
		set = append(set, encoded(toleration))
	}
	slices.Sort(set)
	return slices.Compact(set)
}
