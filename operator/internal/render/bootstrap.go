package render

// The Deployment whose Pod copies the keys of other servers.

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

const (
	fromTLSVolume   = "from-tls"
	fromUsersVolume = "from-users"
	bootstrapVolume = "bootstrap"
	stateVolume     = "state"

	// giveUpSeconds is how long the agent may take to remove the keys that it has copied. The agent removes the keys if it
	// ends before clients may use them, because it would no longer copy changes in the other servers.
	giveUpSeconds = 75

	// copyProbeSeconds and copyProbes allow a first copy to take a day.
	copyProbeSeconds = 2
	copyProbes       = 24 * 60 * 60 / copyProbeSeconds
)

// bootstrapResources are enough for any number of servers, because the agent's package handoff limits the buffers for
// connections, and for keys that change during the copy.
var bootstrapResources = corev1.ResourceRequirements{
	Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("64Mi"),
	},
	Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")},
}

// keepsItsNode has the annotations that keep autoscalers from evicting the Pod, because changes by clients are not
// copied without it.
var keepsItsNode = map[string]string{
	"cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
	"karpenter.sh/do-not-disrupt":                    "true",
}

// bootstrap returns the Deployment that runs one Pod at a time, because each of two Pods would remove from the slots
// the keys that the other Pod copied. No Service, PodDisruptionBudget or NetworkPolicy of the cache selects the Pod by
// its labels.
func bootstrap(p plan.Plan) Object {
	deployment := appsv1ac.Deployment(names.Bootstrap(p.Name), p.Namespace).
		WithLabels(labelsWith(p.Name, p.CommonMetadata.Labels)).
		WithAnnotations(p.CommonMetadata.Annotations).
		WithOwnerReferences(owner(p)).
		WithSpec(appsv1ac.DeploymentSpec().
			WithReplicas(1).
			WithRevisionHistoryLimit(0).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(names.Selector(names.BootstrapInstance(p.Name)))).
			WithStrategy(appsv1ac.DeploymentStrategy().WithType(appsv1.RecreateDeploymentStrategyType)).
			WithTemplate(bootstrapTemplate(p)))
	if p.Bootstrap.Moved {
		deployment.WithAnnotations(map[string]string{names.AnnotationBootstrap: string(instruction.PhaseMoved)})
	}
	return Object{
		GroupKind:     appsv1.SchemeGroupVersion.WithKind("Deployment").GroupKind(),
		Configuration: deployment,
		Metadata:      deployment.ObjectMetaApplyConfiguration,
	}
}

func bootstrapTemplate(p plan.Plan) *corev1ac.PodTemplateSpecApplyConfiguration {
	if p.Bootstrap.Kept != nil {
		return configuration[corev1ac.PodTemplateSpecApplyConfiguration](p.Bootstrap.Kept)
	}
	return corev1ac.PodTemplateSpec().
		WithLabels(p.PodTemplate.Metadata.Labels).
		WithLabels(names.Selector(names.BootstrapInstance(p.Name))).
		WithAnnotations(p.PodTemplate.Metadata.Annotations).
		WithAnnotations(keepsItsNode).
		WithSpec(bootstrapPod(p))
}

func bootstrapPod(p plan.Plan) *corev1ac.PodSpecApplyConfiguration {
	agent := agentContainer(p.Pod, bootstrapResources).
		WithArgs(bootstrapArguments(p)...).
		WithStartupProbe(agentProbe("/started").WithPeriodSeconds(copyProbeSeconds).WithFailureThreshold(copyProbes)).
		WithReadinessProbe(agentProbe("/ready").WithPeriodSeconds(copyProbeSeconds)).
		WithVolumeMounts(readOnly(bootstrapVolume, names.BootstrapDir),
			corev1ac.VolumeMount().WithName(stateVolume).WithMountPath(names.StateDir), keysMount())
	spec := anyPod(p.Pod).
		WithAutomountServiceAccountToken(false).
		WithTerminationGracePeriodSeconds(giveUpSeconds).
		WithVolumes(annotationVolume(bootstrapVolume, "phase", names.AnnotationBootstrap),
			memoryVolume(stateVolume), diskVolume(keysVolume))
	mountSecrets(spec, agent,
		secretMount{p.TLSSecret, tlsVolume, names.TLSDir},
		secretMount{p.AuthSecret, usersVolume, names.UsersDir},
		secretMount{p.Bootstrap.FromTLSSecret, fromTLSVolume, names.FromTLSDir},
		secretMount{p.Bootstrap.FromAuthSecret, fromUsersVolume, names.FromUsersDir})
	place(spec, bootstrapPlacement(p.Pod))
	return spec.WithContainers(agent)
}

// bootstrapPlacement allows the Pod to run on the same Nodes as the cache's own Pods, but leaves out the constraints
// that spread those Pods.
func bootstrapPlacement(pod plan.Pod) plan.Pod {
	placed := pod.Placement
	pod.Placement = cachev1.Placement{
		NodeSelector: placed.NodeSelector, Tolerations: placed.Tolerations,
		PriorityClassName: placed.PriorityClassName, SchedulerName: placed.SchedulerName,
		RuntimeClassName: placed.RuntimeClassName,
	}
	if placed.Affinity != nil {
		pod.Placement.Affinity = &corev1.Affinity{NodeAffinity: placed.Affinity.NodeAffinity}
	}
	return pod
}

func bootstrapArguments(p plan.Plan) []string {
	wanted := p.Bootstrap
	arguments := []string{"bootstrap", "--phase-file=" + names.BootstrapFile, "--state-file=" + names.StateFile}
	for _, server := range wanted.From {
		arguments = append(arguments, "--from="+server)
	}
	arguments = append(arguments, "--from-hash="+wanted.FromHash)
	if wanted.FromTLSSecret != "" {
		arguments = append(arguments, "--from-tls-dir="+names.FromTLSDir)
	}
	if wanted.FromAuthSecret != "" {
		arguments = append(arguments, "--from-auth-dir="+names.FromUsersDir)
	}
	for _, slot := range wanted.To {
		arguments = append(arguments, "--to="+slot)
	}
	arguments = append(arguments, "--to-hash="+wanted.ToHash)
	arguments = append(arguments, tlsArguments(p.Pod)...)
	if p.AuthSecret != "" {
		arguments = append(arguments, "--auth-dir="+names.UsersDir)
	}
	arguments = append(arguments, metricsArguments(p.Pod)...)
	return append(arguments, fmt.Sprintf("--bytes-per-second=%d", wanted.Rate))
}
