package render

// The Job that saves or restores a cache.

import (
	"cmp"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	batchv1ac "k8s.io/client-go/applyconfigurations/batch/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

const (
	credentialsVolume = "credentials"
	snapshotsVolume   = "snapshots"
	temporaryVolume   = "tmp"

	// snapshotRetries is how many times the Job tries again, because a rollout, or an error of the bucket, may make an
	// attempt fail.
	snapshotRetries = 2

	// azureIdentity is the label because of which Azure's webhook gives a Pod its workload identity.
	azureIdentity = "azure.workload.identity/use"
)

// Snapshot renders the Job. Two of its Pods never run at the same time, because they write to the same place.
func Snapshot(s plan.Snapshot) *batchv1ac.JobApplyConfiguration {
	labels := map[string]string{
		names.LabelSnapshot: s.Cache, names.LabelAppName: names.App, names.LabelAppInstance: s.Cache,
		names.LabelAppComponent: names.Snapshot, names.LabelAppManagedBy: names.FieldOwner,
	}
	job := batchv1ac.Job(s.Job, s.Namespace).
		WithLabels(labels).
		WithAnnotations(map[string]string{names.AnnotationServers: s.Names()}).
		WithOwnerReferences(metav1ac.OwnerReference().
			WithAPIVersion(cachev1.GroupVersion.String()).
			WithKind(s.Owner.Kind).
			WithName(s.Owner.Name).
			WithUID(s.Owner.UID).
			WithController(true)).
		WithSpec(batchv1ac.JobSpec().
			WithBackoffLimit(snapshotRetries).
			WithPodReplacementPolicy(batchv1.Failed).
			WithPodFailurePolicy(batchv1ac.PodFailurePolicy().WithRules(ignoreDisruptions())).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(labels).
				WithLabels(snapshotIdentity(s.Place)).
				WithAnnotations(keepsItsNode).
				WithSpec(snapshotPod(s))))
	if s.Restores {
		job.WithAnnotations(map[string]string{names.AnnotationRestores: s.Source})
	}
	return job
}

// ignoreDisruptions returns the rule by which an evicted Pod does not count as an attempt: its Node was drained, or
// needed for other Pods.
func ignoreDisruptions() *batchv1ac.PodFailurePolicyRuleApplyConfiguration {
	return batchv1ac.PodFailurePolicyRule().
		WithAction(batchv1.PodFailurePolicyActionIgnore).
		WithOnPodConditions(batchv1ac.PodFailurePolicyOnPodConditionsPattern().
			WithType(corev1.DisruptionTarget).WithStatus(corev1.ConditionTrue))
}

func snapshotIdentity(to cachev1.SnapshotTarget) map[string]string {
	if to.Credentials == nil || to.Credentials.ServiceAccountName == "" || !strings.HasPrefix(to.URL, "azblob://") {
		return nil
	}
	return map[string]string{azureIdentity: "true"}
}

func snapshotPod(s plan.Snapshot) *corev1ac.PodSpecApplyConfiguration {
	container := snapshotContainer(s)
	spec := anyPod(s.Pod).
		WithAutomountServiceAccountToken(false).
		WithRestartPolicy(corev1.RestartPolicyNever).
		WithVolumes(corev1ac.Volume().WithName(temporaryVolume).
			WithEmptyDir(corev1ac.EmptyDirVolumeSource().WithSizeLimit(s.Keys)))
	mountSecrets(spec, container,
		secretMount{s.Pod.TLSSecret, tlsVolume, names.TLSDir},
		secretMount{s.Pod.AuthSecret, usersVolume, names.UsersDir})
	place(spec, bootstrapPlacement(s.Pod))
	addPlace(spec, container, s)
	return spec.WithContainers(container)
}

func snapshotContainer(s plan.Snapshot) *corev1ac.ContainerApplyConfiguration {
	return corev1ac.Container().
		WithName(names.Snapshot).
		WithImage(s.Image).
		WithImagePullPolicy(pullPolicy(s.Pod, s.Image)).
		WithArgs(snapshotArguments(s)...).
		WithResources(corev1ac.ResourceRequirements().
			WithRequests(corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("64Mi"),
			}).
			WithLimits(corev1.ResourceList{corev1.ResourceMemory: s.Memory})).
		WithTerminationMessagePath(corev1.TerminationMessagePathDefault).
		WithTerminationMessagePolicy(corev1.TerminationMessageFallbackToLogsOnError).
		WithVolumeMounts(corev1ac.VolumeMount().WithName(temporaryVolume).WithMountPath(names.KeysDir)).
		WithSecurityContext(containerSecurity())
}

func snapshotArguments(s plan.Snapshot) []string {
	// The kubelet would replace $(NAME) with the value of a variable, such as a variable from the Secret.
	place := strings.ReplaceAll(cmp.Or(s.Place.URL, names.SnapshotsDir), "$(", "$$(")
	arguments := []string{
		"save", "--once", "--owner=" + string(s.Owner.UID), "--cache=" + s.Cache, "--name=" + s.SnapshotName, "--to=" + place,
	}
	if s.Restores {
		arguments = []string{"restore", "--name=" + s.SnapshotName, "--from=" + place}
	}
	if s.Hash != "" {
		arguments = append(arguments, "--client-hash="+s.Hash)
	}
	for _, server := range s.Servers {
		arguments = append(arguments, "--server="+server.Name+"="+server.Address)
	}
	if s.Pod.TLSSecret != "" {
		arguments = append(arguments, "--tls-dir="+names.TLSDir)
	}
	if s.ServerName != "" {
		arguments = append(arguments, "--tls-server-name="+s.ServerName)
	}
	if s.Pod.AuthSecret != "" {
		arguments = append(arguments, "--auth-dir="+names.UsersDir)
	}
	return append(arguments, fmt.Sprintf("--bytes-per-second=%d", s.Rate),
		"--result-file="+corev1.TerminationMessagePathDefault)
}

// addPlace adds the volume, or the credentials for the bucket.
func addPlace(
	spec *corev1ac.PodSpecApplyConfiguration, container *corev1ac.ContainerApplyConfiguration, s plan.Snapshot,
) {
	if claim := s.Place.PersistentVolumeClaim; claim != nil {
		spec.WithVolumes(corev1ac.Volume().WithName(snapshotsVolume).
			WithPersistentVolumeClaim(corev1ac.PersistentVolumeClaimVolumeSource().WithClaimName(claim.ClaimName)))
		container.WithVolumeMounts(corev1ac.VolumeMount().WithName(snapshotsVolume).WithMountPath(names.SnapshotsDir))
		if s.Pod.UserID != nil { // Otherwise the cluster chooses the Pod's user ID, and the volume's group ID.
			spec.SecurityContext.WithFSGroup(*s.Pod.UserID)
		}
	}
	credentials := s.Place.Credentials
	switch {
	case credentials == nil:
	case credentials.ServiceAccountName != "":
		spec.WithServiceAccountName(credentials.ServiceAccountName).
			WithDeprecatedServiceAccount(credentials.ServiceAccountName)
	case strings.HasPrefix(s.Place.URL, "gs://"):
		spec.WithVolumes(secretVolume(credentialsVolume, credentials.SecretName))
		container.WithVolumeMounts(readOnly(credentialsVolume, names.CredentialsDir)).
			WithEnv(corev1ac.EnvVar().WithName("GOOGLE_APPLICATION_CREDENTIALS").WithValue(names.CredentialsFile))
	default:
		container.WithEnvFrom(corev1ac.EnvFromSource().
			WithSecretRef(corev1ac.SecretEnvSource().WithName(credentials.SecretName)))
	}
}
