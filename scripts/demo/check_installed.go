package main

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
)

const installArgoCD = `install Argo CD (docs/gitops.md, step 3), for example:
kubectl apply --server-side -k gitops/bootstrap/argocd/operator
kubectl wait --for=condition=Established crd/argocds.argoproj.io --timeout=2m
kubectl apply --server-side -k gitops/bootstrap/argocd/instance
(on OpenShift: the operator "Red Hat OpenShift GitOps" from OperatorHub)`

// checkArgoCD finds Argo CD by the ConfigMap that each Argo CD has, and finds its application controller.
func (d *demo) checkArgoCD(ctx context.Context) result {
	partOf := client.MatchingLabels{"app.kubernetes.io/part-of": "argocd"}
	configMaps := &corev1.ConfigMapList{}
	if err := d.Client.List(ctx, configMaps, partOf, client.InNamespace(d.ArgoCDNamespace)); err != nil {
		return missingRight(err, "list ConfigMaps in all namespaces, or name the namespace of Argo CD by --argocd-namespace")
	}
	var namespaces []string
	for _, found := range configMaps.Items {
		if found.Name == "argocd-cm" {
			namespaces = append(namespaces, found.Namespace)
		}
	}
	switch {
	case len(namespaces) == 0 && d.ArgoCDNamespace != "":
		return fail(fmt.Sprintf("the namespace %s has no ConfigMap argocd-cm of Argo CD", d.ArgoCDNamespace),
			"choose another namespace by --argocd-namespace")
	case len(namespaces) == 0:
		return fail("no namespace has Argo CD's ConfigMap argocd-cm", installArgoCD)
	case len(namespaces) == 1:
		d.ArgoCDNamespace = namespaces[0]
	default:
		return fail("several namespaces have an Argo CD: "+strings.Join(namespaces, ", "), "choose one by --argocd-namespace")
	}
	instances := &unstructured.UnstructuredList{}
	instances.SetGroupVersionKind(pipeline.ArgoCDKind)
	err := d.Client.List(ctx, instances, client.InNamespace(d.ArgoCDNamespace))
	switch {
	case err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err): // only argocd-operator defines this kind
		return missingRight(err, "list ArgoCD resources in "+d.ArgoCDNamespace)
	case len(instances.Items) > 0:
		d.ArgoCDName = instances.Items[0].GetName()
	}
	return d.checkController(ctx)
}

// checkController finds the Pod of the application controller.
func (d *demo) checkController(ctx context.Context) result {
	pods := &corev1.PodList{}
	if err := d.Client.List(ctx, pods, client.InNamespace(d.ArgoCDNamespace)); err != nil {
		return missingRight(err, "list Pods in "+d.ArgoCDNamespace)
	}
	found := "in the namespace " + d.ArgoCDNamespace
	for _, pod := range pods.Items {
		if !strings.Contains(pod.Name, "application-controller") {
			continue
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
				return pass("%s, %s", found, pod.Spec.Containers[0].Image)
			}
		}
		return fail(found+", but its application controller is not ready",
			fmt.Sprintf("`kubectl -n %s describe pod %s` shows why", d.ArgoCDNamespace, pod.Name))
	}
	return warn(found+", without an application controller", "the demo works only if the application controller runs "+
		"outside of the cluster, as in `make demo`")
}

// checkObjects applies the objects by a dry run, which finds conflicts and missing rights.
func (d *demo) checkObjects(ctx context.Context) result {
	remove := fmt.Sprintf("kubectl -n %s delete application %s", d.ArgoCDNamespace, pipeline.RootApplication)
	root, err := d.Application(ctx, pipeline.RootApplication)
	switch {
	case meta.IsNoMatchError(err):
		return fail("the CRD applications.argoproj.io does not exist", installArgoCD)
	case err != nil:
		return missingRight(err, "read Applications in "+d.ArgoCDNamespace)
	case root.Deleting:
		return fail(root.Name+" is being deleted", "wait: kubectl -n "+d.ArgoCDNamespace+" get applications -w")
	case root.Source != "" && root.Source != d.Source():
		return fail(fmt.Sprintf("%s already follows %s", root.Name, root.Source),
			"use the same repository, branch and install method for this demo. Or, if nobody needs what it installed, "+
				"delete it, with the caches in its Git repository: "+remove)
	case d.Git == nil:
		return result{Status: skipped, Found: "needs Git repository"}
	}
	if d.Objects, err = d.Bootstrap(); err != nil {
		return fail(err.Error(), "`make gitops-verify` shows more")
	}
	if err := d.Apply(ctx, d.Objects, client.DryRunAll); err != nil {
		return fail(err.Error(), "request the rights that are missing. If a field has another value in the cluster: to "+
			"keep that value, remove the\nfield from gitops/bootstrap here; to replace the value, remove the field by "+
			"kubectl edit; or "+remove)
	}
	return pass("the API server accepts all %d objects", len(d.Objects))
}

// checkOperator looks for an operator that was installed by another install method.
func (d *demo) checkOperator(ctx context.Context) result {
	managers := &appsv1.DeploymentList{}
	err := d.Client.List(ctx, managers, client.MatchingFields{"metadata.name": "memcached-operator-controller-manager"})
	if err != nil {
		return missingRight(err, "list Deployments")
	}
	state := pass("not installed yet")
	for _, manager := range managers.Items {
		by, in := installer(manager), manager.Namespace
		found := fmt.Sprintf("an operator runs in %s, installed by %s", in, by)
		switch {
		case in == pipeline.OperatorNamespace && by == installers[d.Method]:
			state = pass("%s; the demo updates this installation", found)
		case in == pipeline.OperatorNamespace && by == manually && d.Method == pipeline.Direct:
			state = warn(found, "Argo CD will manage this installation; "+
				"deleting the root Application will then delete the operator")
		default:
			return fail(found, "two operators would reconcile the same Memcacheds: uninstall the existing one first\n"+
				"(docs/install.md, Uninstall; docs/gitops.md, Delete; docs/olm.md, Uninstall)")
		}
	}
	return state
}

const manually, byArgoCD, byOLM, byOLMv1 = "kubectl or another client", "Argo CD", "OLM v0", "OLM v1"

var installers = map[pipeline.Method]string{
	pipeline.Direct: byArgoCD, pipeline.OLM: byOLM, pipeline.OpenShift: byOLM, pipeline.OLMv1: byOLMv1,
}

// installer returns what installed the operator, from the labels and annotations of the operator's Deployment.
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

// checkOLM finds whether OLM is installed. The install method openshift needs OLM; the other install methods by OLM
// make Argo CD install it.
func (d *demo) checkOLM(ctx context.Context) result {
	crd := &metav1.PartialObjectMetadata{}
	crd.SetGroupVersionKind(schema.GroupVersionKind{
		Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition",
	})
	name, instead := "subscriptions.operators.coreos.com", "choose --method openshift, which is for clusters with OLM"
	if d.Method == pipeline.OLMv1 {
		name, instead = "clusterextensions.olm.operatorframework.io", "choose another --method, or a cluster without OLM v1"
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
