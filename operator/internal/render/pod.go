package render

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/example-inc/memcached-operator/operator/internal/memcached"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

const (
	// drainSeconds is how long a leaving node goes on to answer: long enough for its address to leave the
	// DNS answers that clients hold (CoreDNS' kubernetes plugin has a TTL of 5 seconds).
	drainSeconds = 10

	// terminationGraceSeconds is the drain and time for memcached to close its connections.
	terminationGraceSeconds = 30

	// requestMilliCPU is what a node is sure of. There is no CPU limit: throttling a cache costs its clients
	// more than it saves anybody.
	requestMilliCPU = 50
)

func podSpec(p plan.Plan) *corev1ac.PodSpecApplyConfiguration {
	spec := corev1ac.PodSpec().
		WithAutomountServiceAccountToken(false).
		WithEnableServiceLinks(false).
		WithTerminationGracePeriodSeconds(terminationGraceSeconds).
		WithSecurityContext(podSecurity(p)).
		WithAffinity(affinity(p)).
		WithTopologySpreadConstraints(
			softSpread(p, corev1.LabelHostname),
			softSpread(p, corev1.LabelTopologyZone)).
		WithContainers(container(p))
	return spec
}

// podSecurity meets the restricted Pod Security Standard, together with the container's part.
func podSecurity(p plan.Plan) *corev1ac.PodSecurityContextApplyConfiguration {
	security := corev1ac.PodSecurityContext().
		WithRunAsNonRoot(true).
		WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))
	if p.UserID != nil {
		security.WithRunAsUser(*p.UserID).WithRunAsGroup(*p.UserID)
	}
	return security
}

// affinity keeps the Pods on nodes for which there is an image.
func affinity(p plan.Plan) *corev1ac.AffinityApplyConfiguration {
	term := corev1ac.NodeSelectorTerm().WithMatchExpressions(in(corev1.LabelOSStable, "linux"))
	if len(p.Architectures) > 0 {
		term.WithMatchExpressions(in(corev1.LabelArchStable, p.Architectures...))
	}
	return corev1ac.Affinity().WithNodeAffinity(corev1ac.NodeAffinity().
		WithRequiredDuringSchedulingIgnoredDuringExecution(corev1ac.NodeSelector().WithNodeSelectorTerms(term)))
}

func in(key string, values ...string) *corev1ac.NodeSelectorRequirementApplyConfiguration {
	return corev1ac.NodeSelectorRequirement().
		WithKey(key).
		WithOperator(corev1.NodeSelectorOpIn).
		WithValues(values...)
}

// softSpread prefers to lose one node of the cache, not all, with a machine or a zone.
func softSpread(p plan.Plan, topologyKey string) *corev1ac.TopologySpreadConstraintApplyConfiguration {
	return corev1ac.TopologySpreadConstraint().
		WithMaxSkew(1).
		WithTopologyKey(topologyKey).
		WithWhenUnsatisfiable(corev1.ScheduleAnyway).
		WithLabelSelector(metav1ac.LabelSelector().WithMatchLabels(names.Selector(p.Name)))
}

func container(p plan.Plan) *corev1ac.ContainerApplyConfiguration {
	return corev1ac.Container().
		WithName(names.Container).
		WithImage(p.Image).
		// The arguments alone: the image's own entry point decides where the program lies.
		WithArgs(memcached.Arguments(p.Memcached)...).
		WithPorts(corev1ac.ContainerPort().
			WithName(names.Port).
			WithContainerPort(p.Memcached.Port).
			WithProtocol(corev1.ProtocolTCP)).
		WithResources(resources(p)).
		WithReadinessProbe(portProbe().WithPeriodSeconds(5)).
		WithLivenessProbe(portProbe().WithPeriodSeconds(10).WithFailureThreshold(6)).
		WithLifecycle(corev1ac.Lifecycle().
			WithPreStop(corev1ac.LifecycleHandler().
				WithSleep(corev1ac.SleepAction().WithSeconds(drainSeconds)))).
		WithSecurityContext(corev1ac.SecurityContext().
			WithAllowPrivilegeEscalation(false).
			WithReadOnlyRootFilesystem(true).
			WithCapabilities(corev1ac.Capabilities().WithDrop("ALL")))
}

// resources asks for the memory that a full node needs, and allows no more.
func resources(p plan.Plan) *corev1ac.ResourceRequirementsApplyConfiguration {
	memory := *resource.NewQuantity(memcached.ContainerMemory(p.Memcached), resource.BinarySI)
	return corev1ac.ResourceRequirements().
		WithRequests(corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity(requestMilliCPU, resource.DecimalSI),
			corev1.ResourceMemory: memory,
		}).
		WithLimits(corev1.ResourceList{corev1.ResourceMemory: memory})
}

// portProbe asks on the port that clients use, so that it fails when they would.
func portProbe() *corev1ac.ProbeApplyConfiguration {
	return corev1ac.Probe().
		WithTCPSocket(corev1ac.TCPSocketAction().WithPort(intstr.FromString(names.Port))).
		WithTimeoutSeconds(3)
}
