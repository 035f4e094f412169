package render

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

func TestThePullPolicyFollowsFromTheImageAsInKubernetes(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("0", 64)
	for image, want := range map[string]corev1.PullPolicy{
		"memcached":                                 corev1.PullAlways,
		"localhost:5000/team/memcached":             corev1.PullAlways,
		"registry.example.com/memcached:latest":     corev1.PullAlways,
		"memcached:1.6.45":                          corev1.PullIfNotPresent,
		"localhost:5000/team/memcached:1.6":         corev1.PullIfNotPresent,
		"memcached" + digest:                        corev1.PullIfNotPresent,
		"registry.example.com/memcached:1" + digest: corev1.PullIfNotPresent,
		"memcached:latest" + digest:                 corev1.PullAlways,
		"memcached:latest-alpine":                   corev1.PullIfNotPresent,
		"not//an image":                             corev1.PullIfNotPresent,
	} {
		if got := pullPolicyOf(image); got != want {
			t.Errorf("%s: %s, want %s", image, got, want)
		}
	}
}

// TestThePodTemplateSetsThePullPolicyOfEachImage: the agent's image may have another tag than memcached's.
func TestThePodTemplateSetsThePullPolicyOfEachImage(t *testing.T) {
	for name, tc := range map[string]struct {
		image            string
		policy           cachev1.ImagePullPolicy
		memcached, agent corev1.PullPolicy
	}{
		"two tags":       {"", "", corev1.PullIfNotPresent, corev1.PullIfNotPresent},
		"no tag":         {"memcached", "", corev1.PullAlways, corev1.PullIfNotPresent},
		"a policy":       {"memcached", "Never", corev1.PullNever, corev1.PullNever},
		"its own policy": {"memcached:1", "IfNotPresent", corev1.PullIfNotPresent, corev1.PullIfNotPresent},
	} {
		spec := podTemplate(planned(t, func(s *cachev1.MemcachedSpec) {
			s.Image, s.ImagePullPolicy = tc.image, tc.policy
		}, defaults).Pod).Spec
		policy := func(containers []corev1ac.ContainerApplyConfiguration) corev1.PullPolicy {
			return *containers[0].ImagePullPolicy
		}
		if got := policy(spec.Containers); got != tc.memcached {
			t.Errorf("%s: memcached %s, want %s", name, got, tc.memcached)
		}
		if got := policy(spec.InitContainers); got != tc.agent {
			t.Errorf("%s: agent %s, want %s", name, got, tc.agent)
		}
	}
}

// TestAPullPolicyThatFollowsFromTheImageAnywayReplacesNoPod: a spec that sets a default explicitly is no change. A
// change would also apply a pending update.
func TestAPullPolicyThatFollowsFromTheImageAnywayReplacesNoPod(t *testing.T) {
	live := &appsv1.Deployment{}
	readDeployment(t, cases+"/a-size-alone.yaml", live)
	for policy, waits := range map[cachev1.ImagePullPolicy]bool{"": true, "IfNotPresent": true, "Always": false} {
		mc := memcachedWith(func(s *cachev1.MemcachedSpec) { s.ImagePullPolicy = policy })
		mc.Status.TemplateInputs = live.Annotations[names.AnnotationTemplateInputs]
		p, err := computed(mc, currently(live), others(live))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(p.Pending) > 0; got != waits {
			t.Errorf("pull policy %q: the update waits: %v, want %v", policy, got, waits)
		}
	}
}
