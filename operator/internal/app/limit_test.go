package app

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/internal/testing/page"
)

// TestTheLimitFitsTheMemcachedsOfItsComment compares the memory limit in the manifest with the resident memory that
// `make bench` measured with as many Memcacheds as the comment of the manifest names: the limit exceeds the resident
// memory by at least a fifth.
func TestTheLimitFitsTheMemcachedsOfItsComment(t *testing.T) {
	content := page.Read(t, "../../config/manager/manager.yaml")
	var manager appsv1.Deployment
	if err := yaml.Unmarshal([]byte(content), &manager); err != nil {
		t.Fatal(err)
	}
	container := manager.Spec.Template.Spec.Containers[0]
	said := page.Find(t, content, `resources: # For up to ([0-9,]+) Memcacheds`)
	count := strings.ReplaceAll(said, ",", "")
	measured := page.Find(t, page.Read(t, "../../../docs/performance.md"), `\| `+count+` Memcacheds: heap \| .* \(resident ([0-9.]+) MiB\)`)
	resident, err := strconv.ParseFloat(measured, 64)
	if err != nil {
		t.Fatal(err)
	}
	limit := container.Resources.Limits.Memory()
	if leaves := float64(limit.Value())/(1<<20) - resident; leaves < resident/5 {
		t.Errorf("%s leaves %.0f MiB in addition to the %.0f MiB of %s Memcacheds", limit, leaves, resident, said)
	}
	row := fmt.Sprintf("| up to %s | %s MiB | ", said, measured)
	if install := page.Read(t, "../../../docs/install.md"); !strings.Contains(install, row) ||
		!strings.Contains(install, fmt.Sprintf("a request of %s and a limit of %s", container.Resources.Requests.Memory(), limit)) {
		t.Errorf("docs/install.md does not say %q, or not what the manifests set", row)
	}
	if !passesLimit(container) {
		t.Errorf("$%s is not the limit of the container in bytes", EnvMemoryLimit)
	}
}

// passesLimit reports whether the container passes its memory limit to BoundMemory.
func passesLimit(container corev1.Container) bool {
	for _, variable := range container.Env {
		if variable.Name == EnvMemoryLimit && variable.ValueFrom != nil && variable.ValueFrom.ResourceFieldRef != nil {
			from := variable.ValueFrom.ResourceFieldRef
			return from.ContainerName == container.Name && from.Resource == "limits.memory" && from.Divisor.String() == "1"
		}
	}
	return false
}
