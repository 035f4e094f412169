package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example-inc/memcached-operator/scripts/gitops/render"
	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

// Keys of argocd-cm for which an ArgoCD resource has fields of its own.
const trackingKey, healthKeys = "application.resourceTrackingMethod", "resource.customizations.health."

// instance: an Argo CD by argocd-operator has in its resource what another has in argocd-cm.
func (r *run) instance(object render.Object) {
	tracking, _, err := unstructured.NestedString(object.Object, "spec", "resourceTrackingMethod")
	if err != nil || tracking != "annotation" {
		r.addArgoCD(object.File, fmt.Sprintf("spec.resourceTrackingMethod is %q", tracking), trackingRemedy)
	}
	r.sameChecks(object)
	r.sameConfig(object)
}

func (r *run) sameChecks(object render.Object) {
	checks := instanceChecks(object)
	for _, kind := range keys(checks, r.argo.Checks) {
		switch ours, other := checks[kind], r.argo.Checks[kind].Lua; {
		case ours == "":
			r.addArgoCD(object.File, "spec.resourceHealthChecks lacks the check of "+kind, "add it, as in "+tree.Existing)
		case other == "":
			r.addArgoCD(tree.Existing, "argocd-cm lacks the health check of "+kind, "add it, as in "+object.File)
		case ours != other:
			r.addArgoCD(object.File, "the health check of "+kind+" is another than that in "+tree.Existing,
				"take both from "+luaFolder)
		}
	}
}

func instanceChecks(object render.Object) map[string]string {
	checks := map[string]string{}
	list, _, err := unstructured.NestedSlice(object.Object, "spec", "resourceHealthChecks")
	if err != nil {
		return checks
	}
	for _, item := range list {
		if fields, ok := item.(map[string]any); ok {
			checks[fmt.Sprintf("%v/%v", fields["group"], fields["kind"])], _ = fields["check"].(string)
		}
	}
	return checks
}

// sameConfig: what has no field of its own is in extraConfig.
func (r *run) sameConfig(object render.Object) {
	extra, _, err := unstructured.NestedStringMap(object.Object, "spec", "extraConfig")
	if err != nil {
		r.addArgoCD(object.File, err.Error(), "spec.extraConfig is a map of texts")
		return
	}
	data := maps.Clone(r.argo.Data)
	maps.DeleteFunc(data, func(key, _ string) bool { return key == trackingKey || strings.HasPrefix(key, healthKeys) })
	for _, key := range keys(extra, data) {
		if extra[key] != data[key] {
			r.addArgoCD(object.File, fmt.Sprintf("spec.extraConfig has %q for %s, argocd-cm has %q", extra[key], key, data[key]),
				"write the same into both")
		}
	}
}

// keys of two maps, in their order.
func keys[A, B any](a map[string]A, b map[string]B) []string {
	all := slices.Concat(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b)))
	slices.Sort(all)
	return slices.Compact(all)
}
