package migrate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// common and copied are the fields of the spec that get values of the charts unchanged.
var (
	common = []field{
		{"commonLabels", "commonMetadata.labels"}, {"commonAnnotations", "commonMetadata.annotations"},
	}
	copied = []field{
		{"podLabels", "podTemplate.metadata.labels"}, {"podAnnotations", "podTemplate.metadata.annotations"},
		{"service.annotations", "service.metadata.annotations"}, {"service.ipFamilies", "service.ipFamilies"},
		{"service.ipFamilyPolicy", "service.ipFamilyPolicy"}, {"nodeSelector", "placement.nodeSelector"},
		{"tolerations", "placement.tolerations"}, {"affinity", "placement.affinity"},
		{"topologySpreadConstraints", "placement.topologySpreadConstraints"},
		{"priorityClassName", "placement.priorityClassName"}, {"schedulerName", "placement.schedulerName"},
	}
)

// field is a field of the spec, by its name, with the path of the chart's value that it gets.
type field struct{ path, name string }

// copy sets a field of the spec to a value. Labels and annotations are added to those that are set already.
func (r *release) copy(f field) {
	value := get[any](r, f.path)
	if labels, ok := value.(map[string]any); ok && strings.HasSuffix(f.name, ".labels") {
		for _, name := range []string{"app", "memcached_cr"} {
			if reserved, found := labels[name]; found {
				delete(labels, name)
				r.report("%s.%s %v: the operator selects by this label; choose another name", f.path, name, reserved)
			}
		}
	}
	r.set(f, value)
}

// set sets a field of the spec, unless the value is empty.
func (r *release) set(f field, value any) {
	if slices.Contains([]string{"", "<nil>", "[]", "map[]"}, fmt.Sprint(value)) {
		return
	}
	for _, name := range slices.Backward(strings.Split(f.name, ".")) {
		value = map[string]any{name: value}
	}
	content, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(content, &r.spec)
	}
	if err != nil {
		r.fail("%s: %w", f.path, err)
	}
}

// setServiceAccount translates the ServiceAccount of the Pods.
func (r *release) setServiceAccount() {
	token := "serviceAccount.automountServiceAccountToken"
	if r.options.Chart == "bitnami" {
		token = "automountServiceAccountToken" // The other value is for the ServiceAccount.
	}
	if r.on(token) {
		r.set(field{token, "podTemplate.automountServiceAccountToken"}, true)
	}
	if r.peek("serviceAccount.create") == false {
		r.at("serviceAccount.create")
		r.copy(field{"serviceAccount.name", "podTemplate.serviceAccountName"})
	}
}
