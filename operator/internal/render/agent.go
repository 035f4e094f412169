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

// addAgent adds the agent as a sidecar that starts before memcached. Without slots the agent has no readiness probe,
// because the agent's readiness says nothing about whether memcached is ready.
func addAgent(spec *corev1ac.PodSpecApplyConfiguration, p plan.Pod) {
	agent := agentContainer(p, p.Agent.Resources).
		WithArgs(agentArguments(p)...).
		WithRestartPolicy(corev1.ContainerRestartPolicyAlways)
	if p.TLSSecret != "" {
		agent.WithVolumeMounts(readOnly(tlsVolume, names.TLSDir))
	}
	if p.AuthSecret != "" {
		agent.WithVolumeMounts(readOnly(usersVolume, names.UsersDir),
			corev1ac.VolumeMount().WithName(authVolume).WithMountPath(names.AuthDir))
		// Memcached does not start without the file of users, which the agent writes. Without users, memcached need not wait
		// for the agent.
		agent.WithStartupProbe(agentProbe("/started").WithPeriodSeconds(1).WithFailureThreshold(60))
		spec.WithShareProcessNamespace(true) // The agent sends a signal to memcached.
	}
	if p.NeedsSlot {
		agent.WithReadinessProbe(agentProbe("/ready").WithPeriodSeconds(1)).
			WithLifecycle(endInOrder()).
			WithVolumeMounts(readOnly(handoffVolume, names.HandoffDir), keysMount())
		spec.WithShareProcessNamespace(true) // The agent sends a signal to memcached.
	}
	if p.Discovery {
		answerDiscovery(spec, agent, p)
	}
	spec.WithInitContainers(agent)
}

// agentContainer returns the part that all containers of the agent's image have in common.
func agentContainer(p plan.Pod, resources corev1.ResourceRequirements) *corev1ac.ContainerApplyConfiguration {
	agent := corev1ac.Container().
		WithName(names.Agent).
		WithImage(p.Agent.Image).
		WithImagePullPolicy(pullPolicy(p, p.Agent.Image)).
		WithResources(corev1ac.ResourceRequirements().
			WithRequests(resources.Requests).
			WithLimits(resources.Limits)).
		WithTerminationMessagePolicy(corev1.TerminationMessageFallbackToLogsOnError).
		WithSecurityContext(containerSecurity())
	if p.Agent.Metrics {
		agent.WithPorts(corev1ac.ContainerPort().
			WithName(names.MetricsPort).
			WithContainerPort(names.MetricsPortNumber).
			WithProtocol(corev1.ProtocolTCP))
	}
	return agent
}

// endInOrder returns the hook with which the agent ends memcached once another Pod has the slot, before the kubelet
// ends memcached. The last changes in memcached's log are sent to that other Pod only if the agent ends memcached. The
// hook of a sidecar begins when the Pod is deleted, like the hook of memcached's container.
func endInOrder() *corev1ac.LifecycleApplyConfiguration {
	return corev1ac.Lifecycle().
		WithPreStop(corev1ac.LifecycleHandler().
			WithExec(corev1ac.ExecAction().WithCommand("/agent", "end")))
}

// untilEnded returns the hook that keeps the kubelet from ending memcached before the agent has ended it. The hook is a
// request to the agent, because memcached's image may have no program that waits.
func untilEnded() *corev1ac.LifecycleApplyConfiguration {
	return corev1ac.Lifecycle().
		WithPreStop(corev1ac.LifecycleHandler().
			WithHTTPGet(corev1ac.HTTPGetAction().WithPath("/ended").WithPort(intstr.FromInt32(names.AgentProbePortNumber))))
}

func agentArguments(p plan.Pod) []string {
	arguments := metricsArguments(p)
	if p.Agent.SlabClasses {
		arguments = append(arguments, "--slab-classes")
	}
	arguments = append(arguments, tlsArguments(p)...)
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

// metricsArguments returns the argument that turns off the agent's metrics if the plan has none, because the agent
// serves them by default.
func metricsArguments(p plan.Pod) []string {
	if p.Agent.Metrics {
		return nil
	}
	return []string{"--metrics-bind-address=0"}
}

// tlsArguments returns the arguments that say how the agent connects to the Pods of the cache.
func tlsArguments(p plan.Pod) []string {
	switch {
	case p.TLSSecret == "":
		return nil
	case p.Memcached.TLS.ClientCA == "":
		return []string{"--tls-dir=" + names.TLSDir}
	}
	return []string{"--tls-dir=" + names.TLSDir, "--client-ca"}
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
	keysVolume      = "keys"
	discoveryVolume = "discovery"
)

// addVolumes mounts the Secrets as whole folders, because the kubelet updates whole folders, but no subPath mounts. The
// authentication file that the agent writes is never on a disk.
func addVolumes(spec *corev1ac.PodSpecApplyConfiguration, p plan.Pod) {
	if p.TLSSecret != "" {
		spec.WithVolumes(secretVolume(tlsVolume, p.TLSSecret))
	}
	if p.AuthSecret != "" {
		spec.WithVolumes(secretVolume(usersVolume, p.AuthSecret), memoryVolume(authVolume))
	}
}

func secretVolume(volume, secret string) *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName(volume).WithSecret(corev1ac.SecretVolumeSource().WithSecretName(secret))
}

// secretMount is a Secret, and the folder where a container mounts it. Without the name of a Secret, nothing is
// mounted.
type secretMount struct{ secret, volume, dir string }

func mountSecrets(
	spec *corev1ac.PodSpecApplyConfiguration, container *corev1ac.ContainerApplyConfiguration, mounts ...secretMount,
) {
	for _, mounted := range mounts {
		if mounted.secret != "" {
			spec.WithVolumes(secretVolume(mounted.volume, mounted.secret))
			container.WithVolumeMounts(readOnly(mounted.volume, mounted.dir))
		}
	}
}

// memoryVolume returns a volume for a small file that is never written to a disk.
func memoryVolume(volume string) *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName(volume).
		WithEmptyDir(corev1ac.EmptyDirVolumeSource().
			WithMedium(corev1.StorageMediumMemory).
			WithSizeLimit(resource.MustParse("1Mi")))
}

// diskVolume returns a volume for temporary files. A list of keys may be larger than the memory of the container that
// copies them.
func diskVolume(volume string) *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName(volume).WithEmptyDir(corev1ac.EmptyDirVolumeSource())
}

func keysMount() *corev1ac.VolumeMountApplyConfiguration {
	return corev1ac.VolumeMount().WithName(keysVolume).WithMountPath(names.KeysDir)
}

// memcachedMounts adds memcached's mounts of Secrets to its container.
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
