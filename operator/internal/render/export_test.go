package render

import (
	"testing"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// The parts that tests of package render_test use: those with package desired, which imports this one.
var (
	Defaults      = defaults
	MemcachedWith = memcachedWith
	Deployed      = deployed
)

// CountTemplates counts the Pod templates of the newest revision that are rendered during the test.
func CountTemplates(t *testing.T) *int {
	t.Helper()
	count, template := 0, templates[newest()]
	replaceTemplate(t, newest(), func(pod plan.Pod) *corev1ac.PodTemplateSpecApplyConfiguration {
		count++
		return template(pod)
	})
	return &count
}
