package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// TestEverySampleBecomesAllPodsReady applies each file in the folder of the samples, as a user does. Each sample begins
// with a comment that says what it is for, and what it needs.
func TestEverySampleBecomesAllPodsReady(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(repository, "operator/config/samples/*.yaml"))
	if err != nil || len(files) < 2 {
		t.Fatalf("samples: %v, %v", files, err)
	}
	w := newSlotWorld(t)
	w.allow(rulesByName...)
	w.secret("memcached-tls", certificate(t, time.Now().Add(time.Hour)))
	w.secret("memcached-users", map[string]string{"users": "ann:" + password})
	for _, file := range files {
		if filepath.Base(file) == "kustomization.yaml" {
			continue
		}
		content, err := os.ReadFile(file)
		w.Expect(err).NotTo(gomega.HaveOccurred())
		lines := strings.SplitN(string(content), "\n", 3)
		if !strings.HasPrefix(lines[0], "# For ") || !strings.HasPrefix(lines[1], "# Needs: ") {
			t.Errorf("%s begins with %q: write a line \"# For …\" and a line \"# Needs: …\"", file, lines[:2])
		}
		caches := 0
		for document := range strings.SplitSeq(string(content), "\n---\n") {
			object := &unstructured.Unstructured{}
			w.Expect(yaml.Unmarshal([]byte(document), &object.Object)).To(gomega.Succeed(), file)
			object.SetNamespace(w.namespace)
			err := cluster.Create(w.ctx, object, client.FieldValidation("Strict"))
			w.Expect(err).NotTo(gomega.HaveOccurred(), "%s: %s", file, object.GetKind())
			if object.GetKind() == "Memcached" {
				w.reason(object.GetName(), cachev1.ReasonAllPodsReady)
				caches++
			}
		}
		if caches == 0 {
			t.Errorf("%s has no Memcached", file)
		}
	}
}
