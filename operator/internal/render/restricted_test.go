package render

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/example-inc/memcached-operator/internal/testing/arbitrary"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// restricted is the Pod Security Standard that the Pods of every spec meet, as the API server judges it.
var restricted = api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}

// FuzzThePodsOfAnySpecAreRestricted: whatever the author of a Memcached writes, the Pods meet the restricted Pod
// Security Standard, and they have no credentials for the API server, and no Secrets except the Secrets that the spec
// names.
func FuzzThePodsOfAnySpecAreRestricted(f *testing.F) {
	f.Add([]byte{}, "", "")
	f.Add([]byte("memcached"), corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix+"memcached", "unconfined")
	f.Add([]byte("memcached"), corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix+"agent", "localhost/own")
	f.Add([]byte("security"), "seccomp.security.alpha.kubernetes.io/pod", "unconfined")
	f.Fuzz(func(t *testing.T, data []byte, annotation, value string) {
		mc := arbitrary.Memcached(arbitrary.Filler(data))
		if annotation != "" {
			mc.Spec.PodTemplate = cmp.Or(mc.Spec.PodTemplate, &cachev1.PodTemplate{})
			mc.Spec.PodTemplate.Metadata = &cachev1.Metadata{Annotations: map[string]string{annotation: value}}
		}
		for _, platform := range []plan.Platform{plan.Kubernetes, plan.OpenShift} {
			defaults := defaults
			defaults.Platform = platform
			p, err := computed(mc, plan.Current{SecretsUsable: true}, defaults)
			if err != nil {
				continue
			}
			for _, pod := range podsOf(t, p) {
				meetsTheStandard(t, pod)
				holdsOnly(t, pod.Spec, mc)
			}
		}
	})
}

// TestThePodsOfEachModeAreRestricted also shows that the check sees Pods with every part that a Pod may have.
func TestThePodsOfEachModeAreRestricted(t *testing.T) {
	for name, change := range map[string]func(*cachev1.MemcachedSpec){
		"a size alone": nothing, "TLS": tls, "mutual TLS": mutualTLS, "an issuer": withIssuer, "users": auth,
		"placement": placement, "slots": withSlots, "bootstrap": withBootstrap, "discovery": withDiscovery,
		"metadata": metadata, "all Pod fields": podFields, "resources": memoryAndResources,
		"TLS and users": func(s *cachev1.MemcachedSpec) { tls(s); auth(s) },
		"no agent": func(s *cachev1.MemcachedSpec) {
			s.Metrics = &cachev1.Metrics{Mode: cachev1.MetricsDisabled}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, pod := range podsOf(t, planned(t, change, defaults)) {
				meetsTheStandard(t, pod)
				holdsOnly(t, pod.Spec, memcachedWith(change))
			}
		})
	}
}

// podsOf returns the Pods of all Deployments, those of memcached first.
func podsOf(t *testing.T, p plan.Plan) []corev1.PodTemplateSpec {
	t.Helper()
	var pods []corev1.PodTemplateSpec
	for _, object := range objectsOf(p) {
		if object.Kind != "Deployment" {
			continue
		}
		text, err := json.Marshal(object.Configuration)
		if err != nil {
			t.Fatal(err)
		}
		deployment := appsv1.Deployment{}
		decodeStrictly(t, string(text), &deployment)
		pods = append(pods, deployment.Spec.Template)
	}
	return pods
}

func meetsTheStandard(t *testing.T, pod corev1.PodTemplateSpec) {
	t.Helper()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range evaluator.EvaluatePod(restricted, &pod.ObjectMeta, &pod.Spec) {
		if !result.Allowed {
			t.Errorf("not restricted: %s: %s", result.ForbiddenReason, result.ForbiddenDetail)
		}
	}
}

// isBootstrap reports whether a Pod copies the keys of other servers: it runs the agent alone.
func isBootstrap(pod corev1.PodSpec) bool { return pod.Containers[0].Name == names.Agent }

// holdsOnly checks what an attacker who controls the containers of the Pod would find.
func holdsOnly(t *testing.T, pod corev1.PodSpec, mc *cachev1.Memcached) {
	t.Helper()
	spec, asked := mc.Spec, cachev1.PodTemplate{}
	if spec.PodTemplate != nil {
		asked = *spec.PodTemplate
	}
	mountsToken := asked.AutomountServiceAccountToken && !isBootstrap(pod)
	if token := pod.AutomountServiceAccountToken; token == nil || *token != mountsToken {
		t.Errorf("the Pod gets a token of the API server, or not, against the spec: %v", token)
	}
	if account := cmp.Or(pod.ServiceAccountName, "default"); account != cmp.Or(asked.ServiceAccountName, "default") {
		t.Errorf("the Pod has the ServiceAccount %q", account)
	}
	secrets, want := []string{}, []string{}
	switch tls := spec.TLS; {
	case tls == nil:
	case tls.SecretName != "":
		want = append(want, tls.SecretName)
	case tls.IssuerRef != nil: // The Secret is named after the cache if the spec names none.
		want = append(want, mc.Name+"-tls")
	}
	if spec.Auth != nil && spec.Auth.SecretName != "" {
		want = append(want, spec.Auth.SecretName)
	}
	if wanted := spec.Bootstrap; wanted != nil && isBootstrap(pod) {
		if wanted.From.TLS != nil && wanted.From.TLS.SecretName != "" {
			want = append(want, wanted.From.TLS.SecretName)
		}
		if wanted.From.Auth != nil && wanted.From.Auth.SecretName != "" {
			want = append(want, wanted.From.Auth.SecretName)
		}
	}
	for _, volume := range pod.Volumes {
		switch {
		case volume.Secret != nil:
			secrets = append(secrets, volume.Secret.SecretName)
		case volume.DownwardAPI != nil:
			readsItsInstruction(t, volume.DownwardAPI.Items)
		case volume.Name == keysVolume && volume.EmptyDir != nil: // stored on the disk, encrypted
		case volume.EmptyDir == nil || volume.EmptyDir.Medium != corev1.StorageMediumMemory:
			t.Errorf("volume %+v", volume)
		}
	}
	if diff := gocmp.Diff(want, secrets); diff != "" {
		t.Errorf("Secrets (-of the spec +of the Pod):\n%s", diff)
	}
	for _, pull := range pod.ImagePullSecrets {
		if !slices.Contains(spec.ImagePullSecrets, cachev1.LocalObjectReference(pull)) {
			t.Errorf("pull Secret %q is not in the spec", pull.Name)
		}
	}
	for _, container := range append(pod.InitContainers, pod.Containers...) {
		holdsItsOwn(t, container)
	}
}

// readsItsInstruction checks that a Pod reads one of the annotations with which the operator instructs agents.
func readsItsInstruction(t *testing.T, items []corev1.DownwardAPIVolumeFile) {
	t.Helper()
	for _, name := range []string{names.AnnotationHandoff, names.AnnotationDiscovery, names.AnnotationBootstrap} {
		if len(items) == 1 && items[0].FieldRef != nil && items[0].FieldRef.FieldPath == "metadata.annotations['"+name+"']" {
			return
		}
	}
	t.Errorf("the Pod reads %+v, want one of the operator's annotations", items)
}

// holdsItsOwn checks one container: memcached never sees the Secret of the users.
func holdsItsOwn(t *testing.T, container corev1.Container) {
	t.Helper()
	mounts := map[string][]string{
		names.Container: {tlsVolume + " read-only", authVolume + " read-only"},
		names.Agent: {tlsVolume + " read-only", usersVolume + " read-only", authVolume, handoffVolume + " read-only",
			discoveryVolume + " read-only", bootstrapVolume + " read-only", stateVolume, keysVolume, fromTLSVolume + " read-only",
			fromUsersVolume + " read-only"},
	}
	for _, mount := range container.VolumeMounts {
		text := strings.TrimSpace(mount.Name + " " + map[bool]string{true: "read-only"}[mount.ReadOnly])
		if !slices.Contains(mounts[container.Name], text) || mount.SubPath != "" {
			t.Errorf("container %q mounts %s at %s", container.Name, text, mount.MountPath)
		}
	}
	if slices.ContainsFunc(container.Env, isOther) || len(container.EnvFrom) > 0 || container.Command != nil || mounts[container.Name] == nil {
		t.Errorf("container %q: environment %v, command %v", container.Name, container.Env, container.Command)
	}
}

// isOther reports whether an environment variable is not the variable of glibc's allocator.
func isOther(variable corev1.EnvVar) bool { return variable.Name != "MALLOC_MMAP_THRESHOLD_" }
