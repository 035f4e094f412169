package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/distribution/reference"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// oldestArgoCD is the first version that the tree is tried with.
var oldestArgoCD = version.MajorMinor(2, 14)

const installArgoCD = `install one (docs/gitops.md, step 3), for example:
kubectl apply --server-side -k gitops/bootstrap/argocd/operator
kubectl wait --for=condition=Established crd/argocds.argoproj.io --timeout=2m
kubectl apply --server-side -k gitops/bootstrap/argocd/instance
(on OpenShift: the operator "Red Hat OpenShift GitOps" from OperatorHub)`

// argoCD finds Argo CD, its namespace and its application controller.
func argoCD(ctx context.Context, s *Subject) Result {
	crd, err := s.definition(ctx, "applications.argoproj.io")
	switch {
	case err != nil:
		return failed(err.Error(), "ask for the right to read CustomResourceDefinitions")
	case crd == nil:
		return failed("the CRD applications.argoproj.io is missing", installArgoCD)
	}
	if err := s.findArgoCD(ctx); err != nil {
		return failed(err.Error(), "name its namespace by --argocd-namespace, or "+installArgoCD)
	}
	return s.findController(ctx)
}

// findArgoCD looks for the ConfigMap that every Argo CD has.
func (s *Subject) findArgoCD(ctx context.Context) error {
	if s.ArgoCDNamespace != "" {
		key := client.ObjectKey{Namespace: s.ArgoCDNamespace, Name: "argocd-cm"}
		return s.Kube.Client.Get(ctx, key, &corev1.ConfigMap{})
	}
	list := &corev1.ConfigMapList{}
	err := s.Kube.Client.List(ctx, list, client.MatchingFields{"metadata.name": "argocd-cm"})
	if apierrors.IsForbidden(err) {
		return fmt.Errorf("no right to look for argocd-cm in all namespaces: %w", err)
	}
	if err != nil {
		return err
	}
	var namespaces []string
	for _, found := range list.Items {
		namespaces = append(namespaces, found.Namespace)
	}
	switch len(namespaces) {
	case 0:
		return fmt.Errorf("the CRDs of Argo CD are there, but no namespace has its ConfigMap argocd-cm")
	case 1:
		s.ArgoCDNamespace = namespaces[0]
		return nil
	}
	return fmt.Errorf("there are several, in the namespaces %s", strings.Join(namespaces, ", "))
}

// findController looks for the application controller among the workloads, which bear its name behind that of the
// installation.
func (s *Subject) findController(ctx context.Context) Result {
	found := "in the namespace " + s.ArgoCDNamespace
	template, ready, err := s.controller(ctx)
	switch {
	case err != nil:
		return failed(err.Error(), "ask for the right to list StatefulSets and Deployments in "+s.ArgoCDNamespace)
	case template == nil:
		return warning(found+", without an application controller",
			"nothing is synced unless one runs outside of the cluster, as that of the local cluster does")
	case !ready:
		return failed(found+", but its application controller is not ready",
			fmt.Sprintf("kubectl -n %s get pods tells why", s.ArgoCDNamespace))
	}
	account := template.ServiceAccountName
	if account == "" {
		account = "default"
	}
	s.ControllerAccount = fmt.Sprintf("system:serviceaccount:%s:%s", s.ArgoCDNamespace, account)
	image := template.Containers[0].Image
	has, err := version.ParseGeneric(tagOf(image))
	if err != nil { // It has none, or not a version's.
		return passed(found + ", " + image)
	}
	s.ArgoCDVersion = has.String()
	if has.LessThan(oldestArgoCD) {
		return warning(found+", v"+has.String(), fmt.Sprintf("the tree is tried from v%s on", oldestArgoCD))
	}
	return passed(found + ", v" + has.String())
}

func tagOf(image string) string {
	named, err := reference.ParseNormalizedNamed(image)
	if tagged, ok := named.(reference.Tagged); err == nil && ok {
		return tagged.Tag()
	}
	return ""
}

func (s *Subject) controller(ctx context.Context) (template *corev1.PodSpec, ready bool, err error) {
	here, isController := client.InNamespace(s.ArgoCDNamespace), func(name string) bool {
		return strings.HasSuffix(name, "application-controller")
	}
	sets := &appsv1.StatefulSetList{}
	if err := s.Kube.Client.List(ctx, sets, here); err != nil {
		return nil, false, err
	}
	i := slices.IndexFunc(sets.Items, func(set appsv1.StatefulSet) bool { return isController(set.Name) })
	if i >= 0 {
		return &sets.Items[i].Spec.Template.Spec, sets.Items[i].Status.ReadyReplicas > 0, nil
	}
	deployments := &appsv1.DeploymentList{}
	if err := s.Kube.Client.List(ctx, deployments, here); err != nil {
		return nil, false, err
	}
	i = slices.IndexFunc(deployments.Items, func(d appsv1.Deployment) bool { return isController(d.Name) })
	if i >= 0 {
		return &deployments.Items[i].Spec.Template.Spec, deployments.Items[i].Status.ReadyReplicas > 0, nil
	}
	return nil, false, nil
}
