// Package clientpod runs a memcached client to its end in a Pod of a cluster.
package clientpod

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// patience is how long a run of the client may take by default.
const patience = 5 * time.Minute

// SecretDir is where the client finds the Secret.
const SecretDir = "/secret"

// Keys is what a run of the client told. It mirrors the output of test/client.
type Keys struct {
	Nodes  []string `json:"nodes"`
	Stored int      `json:"stored"`
	Found  int      `json:"found"`
	Copies int      `json:"copies"`

	Requests int      `json:"requests"`
	Failed   int      `json:"failed"`
	Failures []string `json:"failures"`

	Held   int `json:"held"`
	Missed int `json:"missed"`
}

// Client is where the Pods of clients run.
type Client struct {
	Kube      client.Client
	Config    *rest.Config
	Namespace string
	Image     string
	Secret    string        // with what a client needs to be let in; none by default
	Patience  time.Duration // how long a run may take; 5 minutes by default
}

// Reach is how the client finds the nodes of a cache that are ready now.
func Reach(mc *cachev1.Memcached) []string {
	return []string{"--endpoint=" + mc.Status.Endpoint, fmt.Sprintf("--nodes=%d", mc.Status.ReadyReplicas)}
}

// Run runs the client in a new Pod, and returns what it printed. Update is told what the Pod waits for.
func (c Client) Run(ctx context.Context, update func(string), args ...string) (Keys, error) {
	pod := c.pod(args)
	if err := c.Kube.Create(ctx, pod); err != nil {
		return Keys{}, err
	}
	defer func() { _ = c.Kube.Delete(context.WithoutCancel(ctx), pod) }()
	reason := ""
	ended := func(ctx context.Context) (bool, error) {
		err := c.Kube.Get(ctx, client.ObjectKeyFromObject(pod), pod)
		reason = Waiting(pod)
		update(reason)
		return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed, err
	}
	limit := cmp.Or(c.Patience, patience)
	if err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, limit, true, ended); err != nil {
		return Keys{}, fmt.Errorf("wait for the client Pod %s: %w: %s", pod.Name, err, reason)
	}
	output, err := c.logs(ctx, pod)
	if err != nil {
		return Keys{}, err
	}
	if pod.Status.Phase != corev1.PodSucceeded {
		return Keys{}, fmt.Errorf("the client failed: %s", output)
	}
	var keys Keys
	if err := json.Unmarshal(output, &keys); err != nil {
		return Keys{}, fmt.Errorf("the client printed %q: %w", output, err)
	}
	return keys, nil
}

func (c Client) logs(ctx context.Context, pod *corev1.Pod) ([]byte, error) {
	set, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return nil, err
	}
	return set.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(ctx)
}

// pod meets the restricted Pod Security Standard, as the namespaces of caches demand.
func (c Client) pod(args []string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, GenerateName: "client-"},
		Spec: corev1.PodSpec{
			RestartPolicy:                corev1.RestartPolicyNever,
			AutomountServiceAccountToken: new(false),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot:   new(true),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "client", Image: c.Image, Args: args,
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(false),
					Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
	if c.Secret != "" {
		pod.Spec.Volumes = []corev1.Volume{{
			Name:         "secret",
			VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: c.Secret}},
		}}
		pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "secret", MountPath: SecretDir, ReadOnly: true}}
	}
	return pod
}

// Waiting says why a Pod's containers do not run, or nothing where they do.
func Waiting(pod *corev1.Pod) string {
	for _, status := range pod.Status.ContainerStatuses {
		if waiting := status.State.Waiting; waiting != nil && waiting.Message != "" {
			return fmt.Sprintf("%s: %s: %s", pod.Name, waiting.Reason, waiting.Message)
		}
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return fmt.Sprintf("%s: %s: %s", pod.Name, condition.Reason, condition.Message)
		}
	}
	return ""
}
