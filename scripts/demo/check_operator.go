package main

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
)

// checkOperator finds an operator that is installed by another method.
func (d *demo) checkOperator(ctx context.Context) result {
	managers := &appsv1.DeploymentList{}
	err := d.Client.List(ctx, managers, client.MatchingFields{"metadata.name": "memcached-operator-controller-manager"})
	if err != nil {
		return missingRight(err, "list Deployments")
	}
	state := pass("not installed yet")
	for _, manager := range managers.Items {
		by, in := installer(manager), manager.Namespace
		found := fmt.Sprintf("it runs in %s, installed by %s", in, by)
		switch {
		case in == pipeline.OperatorNamespace && by == installers[d.Method]:
			state = pass("%s: the demo continues with it", found)
		case in == pipeline.OperatorNamespace && by == manually && d.Method == pipeline.Direct:
			state = warn(found, "Argo CD will adopt it; deleting the root Application will delete it")
		default:
			return fail(found, "two operators would reconcile the same Memcacheds: uninstall it first\n"+
				"(docs/install.md, Uninstall; docs/gitops.md, Delete; docs/olm.md, Uninstall)")
		}
	}
	return state
}

const manually, byArgoCD, byOLM, byOLMv1 = "kubectl or another client", "Argo CD", "OLM v0", "OLM v1"

var installers = map[pipeline.Method]string{
	pipeline.Direct: byArgoCD, pipeline.OLM: byOLM, pipeline.OpenShift: byOLM, pipeline.OLMv1: byOLMv1,
}

// installer is who installed the operator, by the labels and annotations of its Deployment.
func installer(manager appsv1.Deployment) string {
	switch {
	case manager.Labels["olm.operatorframework.io/owner-kind"] == "ClusterExtension":
		return byOLMv1
	case manager.Labels["olm.owner.kind"] == "ClusterServiceVersion":
		return byOLM
	case strings.HasPrefix(manager.Annotations["argocd.argoproj.io/tracking-id"], pipeline.OperatorApplication+":"):
		return byArgoCD
	}
	return manually
}

// checkOLM finds whether OLM is installed: openshift needs it, and the other methods install it by Argo CD.
func (d *demo) checkOLM(ctx context.Context) result {
	crd := &metav1.PartialObjectMetadata{}
	crd.SetGroupVersionKind(schema.GroupVersionKind{
		Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition",
	})
	name, instead := "subscriptions.operators.coreos.com", "choose --method openshift, which is for clusters with OLM"
	if d.Method == pipeline.OLMv1 {
		name, instead = "clusterextensions.olm.operatorframework.io", "choose another method, or a cluster without OLM v1"
	}
	err := d.Client.Get(ctx, client.ObjectKey{Name: name}, crd)
	// gitops/settings sets this annotation on the CRDs that the demo installs.
	byDemo := crd.Annotations["argocd.argoproj.io/sync-options"] == "Prune=false,Delete=false"
	switch needed := d.Method == pipeline.OpenShift; {
	case client.IgnoreNotFound(err) != nil:
		return missingRight(err, "read CustomResourceDefinitions")
	case err != nil && needed:
		return fail("the CRD "+name+" does not exist", "choose --method olm, which installs OLM")
	case err != nil:
		return pass("not installed yet; Argo CD must be able to fetch releases from github.com")
	case !needed && !byDemo:
		return fail("the CRD "+name+" exists, and the demo did not install it", instead)
	}
	return pass("installed")
}
