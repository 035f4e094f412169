package chart

import (
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

const (
	labels     = `{{- include "` + Name + `.labels" $ | nindent 0 }}`
	namespace  = `{{ $.Release.Namespace }}`
	hasMetrics = ".Values.metrics.enabled"

	// isScraped: to ask who reads its metrics, the operator needs a right in the whole cluster. Where it has rights in
	// some namespaces alone, it serves no metrics, and an alert that misses them would fire for ever.
	isScraped = "and " + hasMetrics + " (not .Values.watchNamespaces)"

	operatorRules = "spec groups [name=" + Name + "]"
)

// conditions are those of whole objects that no component of the overlays turns on or off.
var conditions = map[string]string{
	"CustomResourceDefinition/memcacheds.cache.example.com":    ".Values.crds.install",
	"NetworkPolicy/" + manager:                                 ".Values.networkPolicy.enabled",
	"Service/" + metricsService:                                hasMetrics,
	"ClusterRole/" + Name + "-metrics-auth-role":               hasMetrics,
	"ClusterRole/" + Name + "-metrics-reader":                  hasMetrics,
	"ClusterRoleBinding/" + Name + "-metrics-auth-rolebinding": hasMetrics,
	"ServiceMonitor/" + Name:                                   isScraped,
	"ServiceAccount/" + scraper:                                isScraped,
	"Secret/" + scraper:                                        isScraped,
	"ClusterRoleBinding/" + scraper:                            isScraped,
}

// templates makes a template of each object.
func (m *manifests) templates() (Files, error) {
	files := Files{}
	for id := range conditions {
		if m.find(id) == nil {
			return nil, fmt.Errorf("%s builds to no %s: correct the conditions in scripts/release/chart", overlay, id)
		}
	}
	for _, o := range m.objects {
		text, err := m.template(o)
		if err != nil {
			return nil, err
		}
		kind := strings.ToLower(o.GetKind())
		files["templates/"+kind+"-"+strings.TrimPrefix(o.GetName(), Name+"-")+".yaml"] = text
	}
	return files, nil
}

func (m *manifests) template(o *object) (string, error) {
	t := &template{object: o.RNode}
	t.setNamespaces()
	switch o.GetKind() {
	case "Deployment":
		m.deployment(t)
	case "NetworkPolicy":
		// The port of the metrics comes first.
		t.when("spec ingress 0 ports 0", hasMetrics)
	case "PrometheusRule":
		t.when(operatorRules, isScraped)
	case "CustomResourceDefinition":
		t.add("metadata annotations", "{{- if .Values.crds.keep }}\nhelm.sh/resource-policy: keep\n{{- end }}")
	}
	t.addLabels()
	text, err := t.text()
	if err != nil {
		return "", err
	}
	return enclose(o, text), nil
}

// enclose lets an object depend on values. The rights in one namespace become those in each that is named.
func enclose(o *object, text string) string {
	if idOf(o.RNode) == "RoleBinding/"+managerBinding {
		return "{{- range " + o.condition + " }}\n---\n" + text + "{{- end }}\n"
	}
	var all []string
	for _, condition := range []string{o.condition, conditions[idOf(o.RNode)]} {
		if condition != "" {
			all = append(all, condition)
		}
	}
	switch len(all) {
	case 0:
		return text
	case 1:
		return "{{- if " + all[0] + " }}\n" + text + "{{- end }}\n"
	}
	return "{{- if and (" + strings.Join(all, ") (") + ") }}\n" + text + "{{- end }}\n"
}

func (t *template) setNamespaces() {
	if t.object.GetNamespace() != "" {
		piece := namespace
		if idOf(t.object) == "RoleBinding/"+managerBinding {
			piece = "{{ . }}"
		}
		t.set("metadata namespace", piece)
	}
	subjects, err := t.object.Pipe(yaml.Lookup("subjects"))
	if err != nil || subjects == nil {
		return
	}
	for i := range subjects.Content() {
		t.set(fmt.Sprintf("subjects %d namespace", i), namespace)
	}
}

func (t *template) addLabels() {
	err := t.object.PipeE(yaml.LookupCreate(yaml.MappingNode, "metadata", "labels"))
	if err != nil {
		t.fail(err)
		return
	}
	t.add("metadata labels", labels)
}
