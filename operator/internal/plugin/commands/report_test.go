package commands

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/access"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/cachetest"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/cause"
)

func TestAReportHasTheLogOfMemcachedUnlessItHasKeys(t *testing.T) {
	for argument, want := range map[string]bool{"--disable-cas": true, "-vv": false, "--verbose": false} {
		mc := cachetest.Memcached("shop", cachev1.ReasonPodsNotReady, "")
		mc.Spec.ExtraArgs = []string{argument}
		pod := cachetest.Crashing(cachetest.Pod("shop", "1aaaa", "node-a"), 1)
		e := cause.Evidence{Observed: access.Observed{Memcached: mc, Pods: []corev1.Pod{pod}}}
		e.Log = "<30 get user:4711\n"
		b := &builder{now: cachetest.Now}
		b.addCauses(e)
		text := b.page.Sections[0].Text
		if got := strings.Contains(text, "user:4711"); got != want || got == strings.Contains(text, "not read: left out") {
			t.Errorf("with %s:\n%s", argument, text)
		}
	}
}
