package render

import (
	"testing"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// The parts of this package that tests in package render_test use. These tests need package desired, which imports this
// package.
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
