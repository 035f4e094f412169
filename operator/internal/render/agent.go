package render

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// addAgent adds the agent as a sidecar that starts before memcached. Without slots it has no readiness probe, because
// it says nothing about memcached's readiness.
func addAgent(spec *corev1ac.PodSpecApplyConfiguration, p plan.Pod) {
	agent := corev1ac.Container().
		WithName(names.Agent).
		WithImage(p.Agent.Image).
		WithImagePullPolicy(pullPolicy(p, p.Agent.Image)).
		WithArgs(agentArguments(p)...).
		WithRestartPolicy(corev1.ContainerRestartPolicyAlways).
		WithResources(corev1ac.ResourceRequirements().
			WithRequests(p.Agent.Resources.Requests).
			WithLimits(p.Agent.Resources.Limits)).
		WithTerminationMessagePolicy(corev1.TerminationMessageFallbackToLogsOnError).
		WithSecurityContext(containerSecurity())
	if p.Agent.Metrics {
		agent.WithPorts(corev1ac.ContainerPort().
			WithName(names.MetricsPort).
			WithContainerPort(names.MetricsPortNumber).
			WithProtocol(corev1.ProtocolTCP))
	}
	if p.TLSSecret != "" {
		agent.WithVolumeMounts(readOnly(tlsVolume, names.TLSDir))
	}
	if p.AuthSecret != "" {
		agent.WithVolumeMounts(readOnly(usersVolume, names.UsersDir),
			corev1ac.VolumeMount().WithName(authVolume).WithMountPath(names.AuthDir))
		// Memcached does not start without the file that the agent writes. Otherwise it need not wait for the agent.
		agent.WithStartupProbe(agentProbe("/started").WithPeriodSeconds(1).WithFailureThreshold(60))
		spec.WithShareProcessNamespace(true) // The agent sends a signal to memcached.
	}
	if p.NeedsSlot {
		agent.WithReadinessProbe(agentProbe("/ready").WithPeriodSeconds(1)).
			WithLifecycle(endInOrder()).
			WithVolumeMounts(readOnly(handoffVolume, names.HandoffDir))
		spec.WithShareProcessNamespace(true) // The agent sends a signal to memcached.
	}
	if p.Discovery {
		answerDiscovery(spec, agent, p)
	}
	spec.WithInitContainers(agent)
}

// endInOrder makes the agent end memcached once another Pod has its slot, before the kubelet does: only then does its
// log send that Pod the last changes. A sidecar's hook begins when the Pod is deleted, like that of memcached.
func endInOrder() *corev1ac.LifecycleApplyConfiguration {
	return corev1ac.Lifecycle().
		WithPreStop(corev1ac.LifecycleHandler().
			WithExec(corev1ac.ExecAction().WithCommand("/agent", "end")))
}

// untilEnded keeps the kubelet from ending memcached until the agent has: memcached's image may have no program that
// waits.
func untilEnded() *corev1ac.LifecycleApplyConfiguration {
	return corev1ac.Lifecycle().
		WithPreStop(corev1ac.LifecycleHandler().
			WithHTTPGet(corev1ac.HTTPGetAction().WithPath("/ended").WithPort(intstr.FromInt32(names.AgentProbePortNumber))))
}

func agentArguments(p plan.Pod) []string {
	var arguments []string
	if !p.Agent.Metrics {
		arguments = append(arguments, "--metrics-bind-address=0")
	}
	if p.Agent.SlabClasses {
		arguments = append(arguments, "--slab-classes")
	}
	if p.TLSSecret != "" {
		arguments = append(arguments, "--tls-dir="+names.TLSDir)
		if p.Memcached.TLS.ClientCA != "" {
			arguments = append(arguments, "--client-ca")
		}
	}
	if p.AuthSecret != "" {
		arguments = append(arguments, "--auth-dir="+names.UsersDir, "--auth-file="+names.AuthFile)
	}
	if p.NeedsSlot {
		arguments = append(arguments, "--handoff-file="+names.HandoffFile,
			fmt.Sprintf("--handoff-timeout=%ds", p.HandoffTimeoutSeconds),
			fmt.Sprintf("--termination-delay=%ds", p.TerminationDelaySeconds))
	}
	if p.Discovery {
		arguments = append(arguments, discoveryArguments(p)...)
	}
	return arguments
}

func agentProbe(path string) *corev1ac.ProbeApplyConfiguration {
	return corev1ac.Probe().
		WithHTTPGet(corev1ac.HTTPGetAction().WithPath(path).WithPort(intstr.FromInt32(names.AgentProbePortNumber))).
		WithTimeoutSeconds(3)
}

// Names of volumes.
const (
	tlsVolume   = "tls"
	usersVolume = "users"
	authVolume  = "auth"

	handoffVolume   = "handoff"
	discoveryVolume = "discovery"
)

// addVolumes mounts the Secrets as whole folders: the kubelet updates those, but no subPath mounts. The agent's
// authentication file is never written to a disk.
func addVolumes(spec *corev1ac.PodSpecApplyConfiguration, p plan.Pod) {
	if p.TLSSecret != "" {
		spec.WithVolumes(corev1ac.Volume().WithName(tlsVolume).
			WithSecret(corev1ac.SecretVolumeSource().WithSecretName(p.TLSSecret)))
	}
	if p.AuthSecret != "" {
		spec.WithVolumes(
			corev1ac.Volume().WithName(usersVolume).
				WithSecret(corev1ac.SecretVolumeSource().WithSecretName(p.AuthSecret)),
			corev1ac.Volume().WithName(authVolume).
				WithEmptyDir(corev1ac.EmptyDirVolumeSource().
					WithMedium(corev1.StorageMediumMemory).
					WithSizeLimit(resource.MustParse("1Mi"))))
	}
}

// memcachedMounts are memcached's mounts.
func memcachedMounts(container *corev1ac.ContainerApplyConfiguration, p plan.Pod) {
	if p.TLSSecret != "" {
		container.WithVolumeMounts(readOnly(tlsVolume, names.TLSDir))
	}
	if p.AuthSecret != "" {
		container.WithVolumeMounts(readOnly(authVolume, names.AuthDir))
	}
}

func readOnly(volume, path string) *corev1ac.VolumeMountApplyConfiguration {
	return corev1ac.VolumeMount().WithName(volume).WithMountPath(path).WithReadOnly(true)
}
