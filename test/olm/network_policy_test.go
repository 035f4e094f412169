package olm

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubelabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

// TestTheNetworkPolicyOfEachOverlayAllowsTheOperatorsPorts: if the NetworkPolicy does not have a port of the
// Deployment, no client can reach this port.
func TestTheNetworkPolicyOfEachOverlayAllowsTheOperatorsPorts(t *testing.T) {
	overlays, err := filepath.Glob(root + "/overlays/*/kustomization.yaml")
	if err != nil || len(overlays) < 6 {
		t.Fatalf("overlays %v, error %v", overlays, err)
	}
	for _, overlay := range overlays {
		t.Run(filepath.Base(filepath.Dir(overlay)), func(t *testing.T) {
			policy, deployment := &networkingv1.NetworkPolicy{}, &appsv1.Deployment{}
			builtInto(t, filepath.Dir(overlay), policy, deployment)
			selector, err := metav1.LabelSelectorAsSelector(&policy.Spec.PodSelector)
			if err != nil || selector.Empty() || !selector.Matches(kubelabels.Set(deployment.Spec.Template.Labels)) {
				t.Errorf("it selects %s, the operator's Pods have %v; error %v", selector, deployment.Spec.Template.Labels, err)
			}
			if policy.Namespace != deployment.Namespace {
				t.Errorf("it is in %s, the operator in %s", policy.Namespace, deployment.Namespace)
			}
			if diff := cmp.Diff(ingressOnly(served(deployment)), policy.Spec, cmp.FilterPath(isSelector, cmp.Ignore())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestTheNetworkPolicyCanBeAppliedSeparately: users may add the NetworkPolicy to an operator that OLM installed, for
// example.
func TestTheNetworkPolicyCanBeAppliedSeparately(t *testing.T) {
	alone, inOverlay := &networkingv1.NetworkPolicy{}, &networkingv1.NetworkPolicy{}
	builtInto(t, root+"/operator/config/network-policy", alone)
	builtInto(t, root+"/overlays/multiarch", inOverlay)
	if diff := cmp.Diff(inOverlay, alone); diff != "" {
		t.Errorf("(-overlay +alone):\n%s", diff)
	}
}

func isSelector(path cmp.Path) bool { return path.String() == "PodSelector" }

// served returns the ports that the containers declare.
func served(deployment *appsv1.Deployment) (ports []networkingv1.NetworkPolicyPort) {
	for _, container := range deployment.Spec.Template.Spec.Containers {
		for _, port := range container.Ports {
			ports = append(ports, networkingv1.NetworkPolicyPort{
				Protocol: &port.Protocol, Port: new(intstr.FromInt32(port.ContainerPort)),
			})
		}
	}
	return ports
}

func ingressOnly(ports []networkingv1.NetworkPolicyPort) networkingv1.NetworkPolicySpec {
	return networkingv1.NetworkPolicySpec{
		PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
		Ingress:     []networkingv1.NetworkPolicyIngressRule{{Ports: ports}},
	}
}

// builtInto builds a kustomization, and reads the only object of the kind of each given object.
func builtInto(t *testing.T, folder string, into ...metav1.Object) {
	t.Helper()
	objects, err := kustomize.Objects(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range into {
		kind, found := reflect.TypeOf(object).Elem().Name(), 0
		for _, o := range objects {
			if o.GetKind() != kind {
				continue
			}
			found++
			if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, object, true); err != nil {
				t.Fatal(err)
			}
		}
		if found != 1 {
			t.Fatalf("%s builds to %d objects of the kind %s", folder, found, kind)
		}
	}
}
