package migrate

import (
	"encoding/json"
	"maps"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// setMetadata translates labels, annotations and the ServiceAccount.
func (r *release) setMetadata() {
	r.spec.CommonMetadata = r.metadata("commonLabels", "commonAnnotations")
	token := "serviceAccount.automountServiceAccountToken"
	if r.options.Chart == "bitnami" {
		token = "automountServiceAccountToken" // The other one is that of the ServiceAccount.
	}
	pods := cachev1.PodTemplate{
		Metadata:                     r.metadata("podLabels", "podAnnotations"),
		AutomountServiceAccountToken: r.on(token),
	}
	if r.peek("serviceAccount.create") == false {
		r.at("serviceAccount.create")
		pods.ServiceAccountName = r.text("serviceAccount.name")
	}
	r.spec.PodTemplate = unlessEmpty(&pods)

	service := cachev1.Service{
		Metadata:       r.metadata("", "service.annotations"),
		IPFamilyPolicy: cachev1.IPFamilyPolicy(r.text("service.ipFamilyPolicy")),
		IPFamilies:     get[[]cachev1.IPFamily](r, "service.ipFamilies"),
	}
	r.spec.Service = unlessEmpty(&service)
}

// metadata are the labels and annotations at two paths.
func (r *release) metadata(labelsAt, annotationsAt string) *cachev1.Metadata {
	metadata := cachev1.Metadata{Annotations: get[map[string]string](r, annotationsAt)}
	if labelsAt != "" {
		metadata.Labels = get[map[string]string](r, labelsAt)
	}
	for _, name := range []string{"app", "memcached_cr"} {
		if value, found := metadata.Labels[name]; found {
			delete(metadata.Labels, name)
			r.report("%s.%s %s: the operator selects by this label; choose another name", labelsAt, name, value)
		}
	}
	return unlessEmpty(&metadata)
}

// addToPods adds labels and annotations to the Pods, unless they have them.
func (r *release) addToPods(more *cachev1.Metadata) {
	if r.spec.PodTemplate == nil {
		r.spec.PodTemplate = &cachev1.PodTemplate{}
	}
	if own := r.spec.PodTemplate.Metadata; own != nil {
		more.Labels = merged(more.Labels, own.Labels)
		more.Annotations = merged(more.Annotations, own.Annotations)
	}
	r.spec.PodTemplate.Metadata = more
}

func merged(first, second map[string]string) map[string]string {
	if first == nil {
		return second
	}
	maps.Copy(first, second)
	return first
}

// unlessEmpty leaves out an object of which nothing is set.
func unlessEmpty[T any](object *T) *T {
	if content, err := json.Marshal(object); err == nil && string(content) == "{}" {
		return nil
	}
	return object
}
