package render

// The Pod template.

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/memcached"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// endSeconds is how long memcached has to close its connections after the drain.
const endSeconds = 15

// losesNothing is the annotation with which cluster-autoscaler may remove the Nodes of Pods that have volumes on the
// Node's disk.
const losesNothing = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"

func podTemplate(p plan.Pod) *corev1ac.PodTemplateSpecApplyConfiguration {
	annotations := map[string]string{names.AnnotationDefaultContainer: names.Container}
	if p.NeedsSlot {
		annotations[losesNothing] = keysVolume
	}
	maps.Copy(annotations, p.PodTemplate.Metadata.Annotations)
	return corev1ac.PodTemplateSpec().
		WithLabels(labelsWith(p.Name, p.PodTemplate.Metadata.Labels)).
		WithAnnotations(annotations).
		WithSpec(podSpec(p))
}

func podSpec(p plan.Pod) *corev1ac.PodSpecApplyConfiguration {
	spec := anyPod(p).
		WithAutomountServiceAccountToken(p.PodTemplate.MountToken).
		WithTerminationGracePeriodSeconds(int64(graceSeconds(p))).
		WithContainers(container(p))
	if config := p.PodTemplate.DNSConfig; config != nil {
		spec.WithDNSConfig(configuration[corev1ac.PodDNSConfigApplyConfiguration](config))
	}
	addVolumes(spec, p)
	if p.Agent != nil {
		addAgent(spec, p)
	}
	place(spec, p)
	if p.NeedsSlot {
		needSlot(spec)
	}
	return spec
}

// anyPod returns the part that memcached's Pods and the Pod of a bootstrap have in common. All have the ServiceAccount,
// because the cluster may decide by the ServiceAccount whether it admits a Pod.
func anyPod(p plan.Pod) *corev1ac.PodSpecApplyConfiguration {
	spec := corev1ac.PodSpec().
		WithEnableServiceLinks(false).
		WithSecurityContext(podSecurity(p))
	for _, secret := range p.PullSecrets {
		spec.WithImagePullSecrets(corev1ac.LocalObjectReference().WithName(secret))
	}
	if account := p.PodTemplate.ServiceAccountName; account != "" {
		// The API server copies the name to the deprecated field serviceAccount. When the operator removes the name, the API
		// server would restore it from that field, so the operator owns both fields.
		spec.WithServiceAccountName(account).WithDeprecatedServiceAccount(account)
	}
	return spec
}

// glibc's malloc maps memory of mapThreshold bytes or more, and returns it to the kernel as soon as it is free. By
// default, malloc raises the threshold when a block of the size of memcached's pages, a mebibyte, is freed for the
// first time. Then a memcached that shrinks again would keep its memory.
const (
	mapThresholdVariable = "MALLOC_MMAP_THRESHOLD_"
	mapThreshold         = "524288"
)

// podSecurity meets the restricted Pod Security Standard, together with the container's security context.
func podSecurity(p plan.Pod) *corev1ac.PodSecurityContextApplyConfiguration {
	security := corev1ac.PodSecurityContext().
		WithRunAsNonRoot(true).
		WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))
	if p.UserID != nil {
		security.WithRunAsUser(*p.UserID).WithRunAsGroup(*p.UserID)
	}
	return security
}

func container(p plan.Pod) *corev1ac.ContainerApplyConfiguration {
	container := corev1ac.Container().
		WithName(names.Container).
		WithImage(p.Image).
		WithImagePullPolicy(pullPolicy(p, p.Image)).
		// Only arguments are set, because the image's entry point locates the program.
		WithArgs(memcached.Arguments(p.Memcached)...).
		WithResources(corev1ac.ResourceRequirements().
			WithRequests(p.Resources.Requests).
			WithLimits(p.Resources.Limits)).
		// memcached reports on its standard error why it exits.
		WithTerminationMessagePolicy(corev1.TerminationMessageFallbackToLogsOnError).
		WithReadinessProbe(portProbe(p).WithPeriodSeconds(5)).
		WithLivenessProbe(portProbe(p).WithPeriodSeconds(10).WithFailureThreshold(6)).
		WithSecurityContext(containerSecurity())
	switch {
	case p.NeedsSlot:
		container.WithLifecycle(untilEnded()).
			WithEnv(corev1ac.EnvVar().WithName(mapThresholdVariable).WithValue(mapThreshold))
	case p.TerminationDelaySeconds > 0: // Kubernetes before 1.33 rejects a sleep of zero seconds.
		container.WithLifecycle(corev1ac.Lifecycle().
			WithPreStop(corev1ac.LifecycleHandler().
				WithSleep(corev1ac.SleepAction().WithSeconds(int64(p.TerminationDelaySeconds)))))
	}
	for _, port := range p.ClientPorts() {
		container.WithPorts(corev1ac.ContainerPort().
			WithName(port.Name).
			WithContainerPort(port.Number).
			WithProtocol(corev1.ProtocolTCP))
	}
	memcachedMounts(container, p)
	return container
}

// leaveSeconds is how long the agent has to end memcached after the drain, before the kubelet ends it. The agent has to
// end memcached before the kubelet does, because only the agent's signal makes memcached send the end of its log. On a
// busy Node, the kubelet takes seconds to start the agent's hook.
const leaveSeconds = 15

// graceSeconds returns after how many seconds the kubelet kills memcached at the latest. A Pod with a slot ends
// earlier, as soon as another Pod has the slot.
func graceSeconds(p plan.Pod) int32 {
	if !p.NeedsSlot {
		return p.TerminationDelaySeconds + endSeconds
	}
	return p.HandoffTimeoutSeconds + p.TerminationDelaySeconds + leaveSeconds + endSeconds
}

func containerSecurity() *corev1ac.SecurityContextApplyConfiguration {
	return corev1ac.SecurityContext().
		WithAllowPrivilegeEscalation(false).
		WithReadOnlyRootFilesystem(true).
		WithCapabilities(corev1ac.Capabilities().WithDrop("ALL"))
}

// portProbe returns a probe of the port that clients use, so that the probe fails when connections of clients fail.
func portProbe(p plan.Pod) *corev1ac.ProbeApplyConfiguration {
	return corev1ac.Probe().
		WithTCPSocket(corev1ac.TCPSocketAction().WithPort(intstr.FromString(p.ClientPorts()[0].Name))).
		WithTimeoutSeconds(3)
}
