package environment

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// edit replaces a text in a file with one of kwok's stages. The text must exist once.
type edit struct{ file, part, by string }

// podEdits are the changes to kwok's configuration for Pods that the campaign needs.
//
//   - A Pod takes 0.1 to 0.7 seconds until it is ready, and 0.05 to 0.45 until it has ended. Without these delays,
//     other steps would hardly ever happen while a Pod starts or ends.
//   - A Pod with a readiness gate does not become ready by itself, nor does its agent, and when it is deleted, it does
//     not end by itself. Package kubelet decides when this happens.
var podEdits = []edit{
	{"pod-ready.yaml", "\n  next:", "\n  delay: {durationMilliseconds: 100, jitterDurationMilliseconds: 700}\n  next:"},
	{"pod-delete.yaml", "\n  next:", "\n  delay: {durationMilliseconds: 50, jitterDurationMilliseconds: 450}\n  next:"},
	{
		"pod-delete.yaml", "operator: 'Exists'",
		"operator: 'Exists'\n    - key: '.spec.readinessGates'\n      operator: 'DoesNotExist'",
	},
	{"pod-ready.yaml", "status: \"True\"\n        type: Ready", unlessGated + "\n        type: Ready"},
	{"pod-ready.yaml", "status: \"True\"\n        type: Cont", unlessGated + "\n        type: Cont"},
	{"pod-ready.yaml", "{{ range .spec.readinessGates }}", "{{ range slice .spec.containers 0 0 }}"},
	{
		"pod-ready.yaml", "ready: true\n        restartCount: 0\n        {{ if eq",
		"ready: {{ if $root.spec.readinessGates }}false{{ else }}true{{ end }}\n        restartCount: 0\n        {{ if eq",
	},
	{"pod-ready.yaml", "{{ $now := Now }}", "{{ $now := Now }}\n      {{ $root := . }}"},
}

const unlessGated = `status: {{ if $root.spec.readinessGates }}"False"{{ else }}"True"{{ end }}`

// editPods edits kwok's configuration, and kills kwok: its supervisor starts it again, and it reads the new
// configuration.
func (e *Environment) editPods() error {
	dir := filepath.Join(filepath.Dir(e.Cluster.Kubeconfig), "stages")
	for _, edit := range podEdits {
		path := filepath.Join(dir, edit.file)
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.Count(string(content), edit.part) != 1 {
			return fmt.Errorf("%s must have the text %q exactly once: adapt podEdits to this version of kwok", path, edit.part)
		}
		edited := strings.Replace(string(content), edit.part, edit.by, 1)
		if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
			return err
		}
	}
	return e.Cluster.Kill("kwok")
}
