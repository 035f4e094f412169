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

// Kinds of Argo CD that the tree is made of.
var (
	ApplicationKind = v1alpha1.ApplicationSchemaGroupVersionKind
	ProjectKind     = v1alpha1.AppProjectSchemaGroupVersionKind
	SetKind         = v1alpha1.ApplicationSetSchemaGroupVersionKind
)

// Decode fills an object of Argo CD from another form of it. It passes over fields of newer versions of Argo CD.
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

// ArgoCDFolder has the settings of Argo CD, Existing those for an Argo CD that is installed.
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

// ArgoCD lets Argo CD read its settings.
func (b *Builder) ArgoCD(ctx context.Context) (ArgoCD, error) {
	objects, err := b.Render(Existing)
	if err != nil {
		return ArgoCD{}, err
	}
	i := slices.IndexFunc(objects, func(o Object) bool { return o.Is("", "ConfigMap") && o.GetName() == "argocd-cm" })
	if i < 0 {
		return ArgoCD{}, fmt.Errorf("%s holds no ConfigMap argocd-cm: Argo CD's settings belong there", Existing)
	}
	var cm corev1.ConfigMap
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(objects[i].Object, &cm); err != nil {
		return ArgoCD{}, err
	}
	ctx, cancel := context.WithCancel(ctx) // ends the watches that the manager begins
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

// CheckedBy is who checks the health of objects of the kind.
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
