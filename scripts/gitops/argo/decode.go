// Package argo asks Argo CD's own code: what its types allow, what an AppProject permits, which health check judges a
// kind and what it says.
package argo

import (
	"errors"
	"fmt"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/json"
)

// Kinds of Argo CD that the tree is made of.
var (
	ApplicationKind = v1alpha1.ApplicationSchemaGroupVersionKind
	ProjectKind     = v1alpha1.AppProjectSchemaGroupVersionKind
)

// Decode fills an Application or an AppProject from an object, and refuses fields that the type does not have.
func Decode[T v1alpha1.Application | v1alpha1.AppProject](u *unstructured.Unstructured) (*T, error) {
	content, err := u.MarshalJSON()
	if err != nil {
		return nil, err
	}
	decoded := new(T)
	strict, err := json.UnmarshalStrict(content, decoded)
	return decoded, errors.Join(append(strict, err)...)
}

// Refused tells why the project does not let the Application be where and what it is.
func Refused(app *v1alpha1.Application, project *v1alpha1.AppProject) []string {
	var reasons []string
	if !project.IsSourcePermitted(app.Spec.GetSource()) {
		reasons = append(reasons, fmt.Sprintf("the source %s is not in its sourceRepos", app.Spec.GetSource().RepoURL))
	}
	if !destination(project, app.Spec.Destination) {
		reasons = append(reasons, fmt.Sprintf("the destination, namespace %q of %s, is not in its destinations",
			app.Spec.Destination.Namespace, app.Spec.Destination.Server))
	}
	return reasons
}

// RefusedObject tells, as the controller asks before it applies an object, why the project does not permit it. It is
// empty where it does.
func RefusedObject(
	app *v1alpha1.Application, project *v1alpha1.AppProject, kind schema.GroupKind, namespaced bool, namespace string,
) string {
	if !project.IsGroupKindPermitted(kind, namespaced) {
		list := "clusterResourceWhitelist"
		if namespaced {
			list = "namespaceResourceWhitelist"
		}
		return fmt.Sprintf("its %s lacks {group: %q, kind: %s}", list, kind.Group, kind.Kind)
	}
	if !namespaced {
		return ""
	}
	where := v1alpha1.ApplicationDestination{
		Server: app.Spec.Destination.Server, Name: app.Spec.Destination.Name, Namespace: namespace,
	}
	if !destination(project, where) {
		return fmt.Sprintf("its destinations lack the namespace %q of %s", namespace, where.Server)
	}
	return ""
}

func destination(project *v1alpha1.AppProject, where v1alpha1.ApplicationDestination) bool {
	// An error could come only from the project's own clusters, of which a folder knows none.
	permitted, err := project.IsDestinationPermitted(where, func(string) ([]*v1alpha1.Cluster, error) {
		return nil, errors.New("no clusters are known")
	})
	return err == nil && permitted
}
