package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Namespace is where the sample caches are.
const Namespace = "memcached-samples"

// rights asks whether the user may do what the demo does by itself.
func rights(ctx context.Context, s *Subject) Result {
	needed := s.neededRights()
	var denied []string
	for _, attributes := range needed {
		review := &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &attributes},
		}
		if err := s.Kube.Client.Create(ctx, review); err != nil {
			return failed(err.Error(), "kubectl auth can-i --list must work")
		}
		if !review.Status.Allowed {
			denied = append(denied, sentence(attributes))
		}
	}
	if len(denied) > 0 {
		return failed("you may not "+strings.Join(denied, ", "),
			"ask an administrator for these rights, or use a context that has them by --context")
	}
	return passed(fmt.Sprintf("all %d that are needed", len(needed)))
}

// neededRights are those to apply the objects, and to run clients.
func (s *Subject) neededRights() []authorizationv1.ResourceAttributes {
	needed := []authorizationv1.ResourceAttributes{
		{Verb: "create", Resource: "pods", Namespace: Namespace},
		{Verb: "get", Resource: "pods", Namespace: Namespace},
		{Verb: "delete", Resource: "pods", Namespace: Namespace},
		{Verb: "get", Resource: "pods", Subresource: "log", Namespace: Namespace},
		{Verb: "get", Group: "cache.example.com", Resource: "memcacheds", Namespace: Namespace},
		{Verb: "get", Group: "argoproj.io", Resource: "applications", Namespace: s.ArgoCDNamespace},
	}
	for _, object := range slices.Concat(s.Settings, s.Bootstrap) {
		resource, known := s.resourceOf(object.GroupVersionKind())
		for _, verb := range []string{"create", "patch"} {
			attributes := authorizationv1.ResourceAttributes{
				Verb: verb, Group: resource.Group, Resource: resource.Resource, Namespace: object.GetNamespace(),
			}
			if known && !slices.Contains(needed, attributes) {
				needed = append(needed, attributes)
			}
		}
	}
	return needed
}

// sentence is a right as people say it, and as kubectl auth can-i takes it.
func sentence(a authorizationv1.ResourceAttributes) string {
	resource := a.Resource
	if a.Group != "" {
		resource += "." + a.Group
	}
	if a.Subresource != "" {
		resource += "/" + a.Subresource
	}
	if a.Namespace == "" {
		return a.Verb + " " + resource
	}
	return a.Verb + " " + resource + " in " + a.Namespace
}

func (s *Subject) resourceOf(kind schema.GroupVersionKind) (schema.GroupVersionResource, bool) {
	mapping, err := s.Kube.Client.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return schema.GroupVersionResource{}, false
	}
	return mapping.Resource, true
}

// argoRights asks whether Argo CD may make what the AppProjects of the way allow outside of namespaces. One that
// argocd-operator makes for a few namespaces may not.
func argoRights(ctx context.Context, s *Subject) Result {
	if s.ControllerAccount == "" {
		return Result{Status: Skipped, Found: "not looked at: its application controller is not in this cluster"}
	}
	projects, err := s.render(s.Way.RootFolder())
	if err != nil {
		return failed(err.Error(), "make gitops-verify tells more")
	}
	var denied []string
	for _, kind := range clusterKinds(projects) {
		resource, known := s.resourceOf(kind)
		if !known { // It comes with the demo.
			continue
		}
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: s.ControllerAccount, Groups: groupsOf(s.ControllerAccount),
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: "create", Group: resource.Group, Resource: resource.Resource,
			},
		}}
		if err := s.Kube.Client.Create(ctx, review); err != nil {
			return warning("it can't be asked for: "+err.Error(), s.ControllerAccount+" must be able to make "+kind.Kind)
		}
		if !review.Status.Allowed {
			denied = append(denied, sentence(*review.Spec.ResourceAttributes))
		}
	}
	if len(denied) > 0 {
		return failed(s.ControllerAccount+" may not "+strings.Join(denied, ", "),
			"use an Argo CD that manages the whole cluster. For one of argocd-operator or OpenShift GitOps name its namespace "+
				"in ARGOCD_CLUSTER_CONFIG_NAMESPACES of the operator's Subscription or Deployment, and give "+
				s.ControllerAccount+" these rights by a ClusterRoleBinding")
	}
	return passed(s.ControllerAccount + " may make what is outside of namespaces")
}

// clusterKinds are those that AppProjects allow outside of namespaces.
func clusterKinds(projects []*unstructured.Unstructured) (kinds []schema.GroupVersionKind) {
	for _, project := range projects {
		allowed, _, _ := unstructured.NestedSlice(project.Object, "spec", "clusterResourceWhitelist")
		for _, entry := range allowed {
			fields, _ := entry.(map[string]any)
			group, _ := fields["group"].(string)
			kind, _ := fields["kind"].(string)
			gvk := schema.GroupVersionKind{Group: group, Kind: kind}
			if !slices.Contains(kinds, gvk) {
				kinds = append(kinds, gvk)
			}
		}
	}
	return kinds
}

// groupsOf are those that the API server gives to a ServiceAccount.
func groupsOf(account string) []string {
	namespace := strings.Split(account, ":")[2]
	return []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"}
}
