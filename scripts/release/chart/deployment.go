package chart

import (
	"fmt"
	"slices"
	"strings"
)

const (
	podPath       = "spec template spec"
	containerPath = podPath + " containers [name=manager]"

	archKey      = "[key=kubernetes.io/arch]"
	affinityPath = podPath + " affinity nodeAffinity"
	requiredPath = affinityPath + " requiredDuringSchedulingIgnoredDuringExecution"
	archPath     = requiredPath + " nodeSelectorTerms 0 matchExpressions " + archKey + " values"
	preferences  = affinityPath + " preferredDuringSchedulingIgnoredDuringExecution"
)

// imagePaths are where the Deployment names the images of a release.
var imagePaths = map[string]string{
	"operator":  containerPath + " image",
	"agent":     variablePath("RELATED_IMAGE_AGENT"),
	"memcached": variablePath("RELATED_IMAGE_MEMCACHED"),
}

// imageValues are the values that replace them.
var imageValues = map[string]string{"operator": "image", "agent": "agent.image", "memcached": "memcached.image"}

func variablePath(name string) string { return containerPath + " env [name=" + name + "] value" }

// setImages reads the images that the manifests name, and puts those of the release in their place.
func (m *manifests) setImages(o Options) error {
	deployment := m.find("Deployment/" + manager)
	released := map[string]string{"operator": o.Operator, "agent": o.Agent, "memcached": o.Memcached}
	for name, path := range imagePaths {
		ref := released[name]
		if ref == "" {
			node, err := lookup(deployment.RNode, path)
			if err != nil {
				return err
			}
			ref = node.YNode().Value
		}
		parsed, err := parseImage(ref)
		if err != nil {
			return err
		}
		m.images[name] = parsed
	}
	return nil
}

// deployment is where most values go.
func (m *manifests) deployment(t *template) {
	t.set("spec replicas", "{{ .Values.replicas }}")
	t.add("spec template metadata annotations", entries("podAnnotations"))
	t.add("spec template metadata labels", entries("podLabels"))
	for _, name := range []string{"imagePullSecrets", "nodeSelector", "tolerations"} {
		t.add(podPath, fmt.Sprintf("{{- with .Values.%s }}\n%s:\n  {{- toYaml . | nindent 2 }}\n{{- end }}", name, name))
	}
	t.add(podPath, field("priorityClassName", "priorityClassName"))
	t.when(podPath+" topologySpreadConstraints", options[0].condition)
	t.setArchitectures()

	for name, path := range imagePaths {
		t.set(path, fmt.Sprintf(`{{ include "%s.image" (dict "image" .Values.%s "released" %q) | quote }}`,
			Name, imageValues[name], m.images[name].rest))
	}
	t.set(variablePath("OPERAND_ARCHITECTURES"), `{{ join "," .Values.architectures | quote }}`)
	t.set(variablePath("WATCH_NAMESPACE"), `{{ join "," .Values.watchNamespaces | quote }}`)
	t.when(containerPath+" env [name=WATCH_NAMESPACE]", ".Values.watchNamespaces")
	t.add(containerPath+" args", "{{- if not "+hasMetrics+" }}\n- --metrics-bind-address=0\n{{- end }}")
	t.add(containerPath+" args", entries("extraArgs"))
	t.when(containerPath+" ports [name=metrics]", hasMetrics)
	t.set(containerPath+" resources", "\n  {{- toYaml .Values.resources | nindent 2 }}")
	t.add(containerPath, field("imagePullPolicy", "image.pullPolicy"))
}

// entries adds those of a value to a map or list.
func entries(value string) string {
	return "{{- with .Values." + value + " }}\n{{- toYaml . | nindent 0 }}\n{{- end }}"
}

// field is there only if the value is set.
func field(name, value string) string {
	return "{{- with .Values." + value + " }}\n" + name + ": {{ . | quote }}\n{{- end }}"
}

// setArchitectures keeps the operator on Nodes of the architectures that it is told. Among several, it prefers those
// that the overlay prefers; one alone needs no preference.
func (t *template) setArchitectures() {
	t.set(archPath, "\n  {{- toYaml .Values.architectures | nindent 2 }}")
	list, err := lookup(t.object, preferences)
	if err != nil {
		t.fail(err)
		return
	}
	var conditions []string
	for i := range slices.Backward(list.Content()) { // from the end: each condition moves what is behind it
		item := fmt.Sprintf("%s %d", preferences, i)
		arch, err := lookup(t.object, item+" preference matchExpressions "+archKey+" values 0")
		if err != nil {
			t.fail(err)
			return
		}
		condition := fmt.Sprintf("has %q .Values.architectures", arch.YNode().Value)
		conditions = append(conditions, "("+condition+")")
		t.when(item, condition)
	}
	t.when(preferences, "and (gt (len .Values.architectures) 1) (or "+strings.Join(conditions, " ")+")")
}
