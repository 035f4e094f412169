package migrate

import (
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// peer selects the Pods with some labels, in the namespaces with some labels. Without labels of namespaces, it selects
// Pods in the namespace of the Memcached.
func peer(pods, namespaces map[string]string) (found networkingv1.NetworkPolicyPeer) {
	if len(pods) > 0 {
		found.PodSelector = &metav1.LabelSelector{MatchLabels: pods}
	}
	if len(namespaces) > 0 {
		found.NamespaceSelector = &metav1.LabelSelector{MatchLabels: namespaces}
	}
	return found
}

// orNobody returns the peers or, if there are none, a peer that matches no client. With an empty list, the
// NetworkPolicy of the Memcached would allow all clients.
func (r *release) orNobody(path string, peers []networkingv1.NetworkPolicyPeer) []networkingv1.NetworkPolicyPeer {
	if len(peers) > 0 {
		return peers
	}
	label := r.name + "-client"
	r.report("%s: the release's NetworkPolicy allows no client; the manifest allows only Pods with the label "+
		"%s=true, because an empty list would allow all clients", path, label)
	return []networkingv1.NetworkPolicyPeer{peer(map[string]string{label: "true"}, nil)}
}

// reportPolicy reports that the NetworkPolicy of the release has to allow the copy of keys.
func (r *release) reportPolicy() {
	r.report("networkPolicy.enabled true: to copy keys, let the release's NetworkPolicy allow Pods with the label "+
		"app=memcached of the namespace %s", r.namespace)
}
