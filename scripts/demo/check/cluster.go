package check

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/example-inc/memcached-operator/scripts/demo/target"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

// oldest is the first Kubernetes that the operator is made for.
var oldest = version.MajorMinor(1, 30)

// cluster reaches the API server of the kubeconfig.
func cluster(_ context.Context, s *Subject) Result {
	kube, err := target.Connect(s.Context)
	if err != nil {
		return failed(err.Error(), "set KUBECONFIG and choose a context by --context: "+
			"kubectl config get-contexts lists them, kubectl version tells whether one answers")
	}
	s.Kube = kube
	found := fmt.Sprintf("context %s, %s, Kubernetes %s", kube.Context, kube.Config.Host, kube.Version.GitVersion)
	has, err := version.ParseGeneric(kube.Version.GitVersion)
	if err != nil || has.LessThan(oldest) {
		return failed(found, fmt.Sprintf("use a cluster of Kubernetes %s or newer", oldest))
	}
	return passed(found)
}

// nodes finds the architecture to install for.
func nodes(ctx context.Context, s *Subject) Result {
	list := &corev1.NodeList{}
	if err := s.Kube.Client.List(ctx, list); err != nil {
		return failed(err.Error(), "ask for the right to list nodes")
	}
	count := map[string]int{}
	for _, node := range list.Items {
		if takesPods(node) {
			count[node.Status.NodeInfo.Architecture]++
		}
	}
	s.NodeArchitectures = slices.Sorted(maps.Keys(count))
	var words []string
	for _, architecture := range s.NodeArchitectures {
		words = append(words, fmt.Sprintf("%d of %s", count[architecture], architecture))
	}
	return s.chooseArchitecture(strings.Join(words, ", "))
}

// Architectures are those that nodes have and the operator is made for.
func (s *Subject) Architectures() []string {
	return slices.DeleteFunc(oci.Architectures(), func(architecture string) bool {
		return !slices.Contains(s.NodeArchitectures, architecture)
	})
}

func (s *Subject) chooseArchitecture(found string) Result {
	ours, want := s.Architectures(), s.Architecture
	switch {
	case len(s.NodeArchitectures) == 0:
		return failed("no Linux node takes Pods without a toleration",
			"add a node; kubectl get nodes shows taints and what is cordoned")
	case want != "" && want != values.Multiarch && !slices.Contains(ours, want):
		return failed(found+", none of "+want, "choose one by --arch that there are nodes of")
	case len(ours) == 0:
		return failed(found, "there is no overlay for it: add nodes of "+strings.Join(oci.Architectures(), ", "))
	case want == "" && len(ours) == 1:
		s.Architecture = ours[0]
	case want == "":
		s.Architecture = values.Multiarch
	}
	if s.Architecture == values.Multiarch {
		return passed(found + "; operator and caches go to " + strings.Join(ours, " or "))
	}
	return passed(found + "; operator and caches go to " + s.Architecture)
}

// takesPods tells of a Linux node that an ordinary Pod can be scheduled to.
func takesPods(node corev1.Node) bool {
	tainted := slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		return taint.Effect != corev1.TaintEffectPreferNoSchedule
	})
	return !tainted && !node.Spec.Unschedulable && node.Status.NodeInfo.OperatingSystem == "linux"
}
