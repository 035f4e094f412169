package chain

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// clientPatience is how long a run of the client may take.
const clientPatience = 5 * time.Minute

// Keys is what a run of the client told. It mirrors the output of test/client.
type Keys struct {
	Nodes  []string `json:"nodes"`
	Stored int      `json:"stored"`
	Found  int      `json:"found"`
	Copies int      `json:"copies"`

	Requests int      `json:"requests"`
	Failed   int      `json:"failed"`
	Failures []string `json:"failures"`
}

// RunClient runs the client to its end in a new Pod, and returns what it printed.
func (c *Chain) RunClient(ctx context.Context, namespace, image string, args ...string) (Keys, error) {
	pod := clientPod(namespace, image, args)
	if err := c.Client.Create(ctx, pod); err != nil {
		return Keys{}, err
	}
	defer func() { _ = c.Client.Delete(context.WithoutCancel(ctx), pod) }()
	ended := func(ctx context.Context) (bool, error) {
		err := c.Client.Get(ctx, client.ObjectKeyFromObject(pod), pod)
		return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed, err
	}
	if err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, clientPatience, true, ended); err != nil {
		return Keys{}, fmt.Errorf("wait for the client Pod %s: %w", pod.Name, err)
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

func (c *Chain) logs(ctx context.Context, pod *corev1.Pod) ([]byte, error) {
	config, err := c.Cluster.RESTConfig()
	if err != nil {
		return nil, err
	}
	set, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return set.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(ctx)
}

// clientPod meets the restricted Pod Security Standard, as the namespaces of caches demand.
func clientPod(namespace, image string, args []string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "client-"},
		Spec: corev1.PodSpec{
			RestartPolicy:                corev1.RestartPolicyNever,
			AutomountServiceAccountToken: new(false),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot:   new(true),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "client", Image: image, Args: args,
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(false),
					Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
}
