package tree

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/util/lua"
	"github.com/argoproj/argo-cd/v2/util/settings"
	"github.com/argoproj/gitops-engine/pkg/health"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
)

// These are the kinds of Argo CD that the tree has.
var (
	ApplicationKind = v1alpha1.ApplicationSchemaGroupVersionKind
	ProjectKind     = v1alpha1.AppProjectSchemaGroupVersionKind
	SetKind         = v1alpha1.ApplicationSetSchemaGroupVersionKind
)

// Decode converts an unstructured object to one of Argo CD's types. It ignores fields of newer versions of Argo CD.
func Decode[T v1alpha1.Application | v1alpha1.ApplicationSet | v1alpha1.AppProject](
	u *unstructured.Unstructured,
) (*T, error) {
	content, err := u.MarshalJSON()
	if err != nil {
		return nil, err
	}
	decoded := new(T)
	return decoded, json.Unmarshal(content, decoded)
}

// ArgoCDFolder is the folder with the settings of Argo CD. Existing is the folder in it for an Argo CD that is already
// installed.
const (
	ArgoCDFolder = "gitops/bootstrap/argocd"
	Existing     = ArgoCDFolder + "/existing"
)

// ArgoCD are the settings that Argo CD reads from its ConfigMap argocd-cm.
type ArgoCD struct {
	// Tracking is how Argo CD marks the objects that it manages.
	Tracking string
	// Overrides are the health checks in Lua, by "group/Kind".
	Overrides map[string]v1alpha1.ResourceOverride
}

// ArgoCD returns the settings of Argo CD in the tree, as Argo CD's code reads them.
func (b *Builder) ArgoCD(ctx context.Context) (ArgoCD, error) {
	objects, err := b.Render(Existing)
	if err != nil {
		return ArgoCD{}, err
	}
	i := slices.IndexFunc(objects, func(o Object) bool { return o.Is("", "ConfigMap") && o.GetName() == "argocd-cm" })
	if i < 0 {
		return ArgoCD{}, fmt.Errorf("%s has no ConfigMap argocd-cm, in which Argo CD's settings must be", Existing)
	}
	var cm corev1.ConfigMap
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(objects[i].Object, &cm); err != nil {
		return ArgoCD{}, err
	}
	ctx, cancel := context.WithCancel(ctx) // ends the watches that Argo CD's settings manager starts
	defer cancel()
	manager := settings.NewSettingsManager(ctx, fake.NewSimpleClientset(&cm), cm.Namespace)
	var a ArgoCD
	if a.Overrides, err = manager.GetResourceOverrides(); err != nil {
		return ArgoCD{}, fmt.Errorf("ConfigMap %s, which Argo CD can't read: %w", cm.Name, err)
	}
	a.Tracking, err = manager.GetTrackingMethod()
	return a, err
}

// These are the possible answers of CheckedBy.
const (
	ByTree   = "tree"    // a check of this tree
	ByArgoCD = "Argo CD" // a check that Argo CD brings
	ByNone   = "none"    // the object counts as healthy once it is applied
)

// CheckedBy returns whose check determines the health of objects of this kind: ByTree, ByArgoCD or ByNone.
func (a ArgoCD) CheckedBy(kind schema.GroupVersionKind) string {
	if a.Overrides[lua.GetConfigMapKey(kind)].HealthLua != "" {
		return ByTree
	}
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(kind)
	script, _, err := lua.VM{ResourceOverrides: a.Overrides}.GetHealthScript(object)
	if err == nil && script != "" || health.GetHealthCheckFunc(kind) != nil {
		return ByArgoCD
	}
	return ByNone
}
