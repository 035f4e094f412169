package argo

import (
	"context"
	"fmt"

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

// Settings are what Argo CD reads from its ConfigMap argocd-cm.
type Settings struct {
	// Tracking is how Argo CD marks what is its own. Empty is its default: by label until 3.0.
	Tracking string
	// Checks are the health checks in Lua, by "group/Kind".
	Checks map[string]Check
	// Data is all that the ConfigMap holds.
	Data map[string]string
}

// Check is a health check.
type Check struct {
	Lua string
	// OpenLibs: it may use Lua's own libraries.
	OpenLibs bool
}

// ReadSettings lets Argo CD read its ConfigMap.
func ReadSettings(ctx context.Context, configMap *unstructured.Unstructured) (Settings, error) {
	var cm corev1.ConfigMap
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(configMap.Object, &cm); err != nil {
		return Settings{}, err
	}
	ctx, cancel := context.WithCancel(ctx) // ends the watches that the manager begins
	defer cancel()
	manager := settings.NewSettingsManager(ctx, fake.NewSimpleClientset(&cm), cm.Namespace)
	overrides, err := manager.GetResourceOverrides()
	if err != nil {
		return Settings{}, fmt.Errorf("ConfigMap %s, which Argo CD can't read: %w", cm.Name, err)
	}
	tracking, err := manager.GetTrackingMethod()
	if err != nil {
		return Settings{}, err
	}
	checks := map[string]Check{}
	for kind, override := range overrides {
		if override.HealthLua != "" {
			checks[kind] = Check{Lua: override.HealthLua, OpenLibs: override.UseOpenLibs}
		}
	}
	return Settings{Tracking: tracking, Checks: checks, Data: cm.Data}, nil
}

// Judge is what decides whether an object of a kind is healthy.
type Judge string

// Judges, from the first that is asked to the last.
const (
	Ours    Judge = "ours"    // a check of this tree
	BuiltIn Judge = "Argo CD" // a check that Argo CD brings
	Nobody  Judge = "none"    // the object counts as healthy once it is applied
)

// Judge is who judges objects of the kind.
func (s Settings) Judge(kind schema.GroupVersionKind) (Judge, error) {
	if s.Checks[lua.GetConfigMapKey(kind)].Lua != "" {
		return Ours, nil
	}
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(kind)
	script, _, err := s.machine().GetHealthScript(object)
	if err != nil {
		return "", err
	}
	if script != "" || health.GetHealthCheckFunc(kind) != nil {
		return BuiltIn, nil
	}
	return Nobody, nil
}

// Health is what Argo CD says of an object, by these checks and its own.
func (s Settings) Health(object *unstructured.Unstructured) (status, message string, err error) {
	found, err := health.GetResourceHealth(object, lua.ResourceHealthOverrides(s.machine().ResourceOverrides))
	if err != nil {
		return "", "", err
	}
	if found == nil {
		return "", "", nil
	}
	return string(found.Status), found.Message, nil
}

func (s Settings) machine() lua.VM {
	overrides := map[string]v1alpha1.ResourceOverride{}
	for kind, check := range s.Checks {
		overrides[kind] = v1alpha1.ResourceOverride{HealthLua: check.Lua, UseOpenLibs: check.OpenLibs}
	}
	return lua.VM{ResourceOverrides: overrides}
}
