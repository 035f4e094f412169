// Package clientpod runs test/client in Pods, as the demo and the end-to-end tests do.
package clientpod

import (
	"cmp"
	"context"
	_ "embed" // for the Pod
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// clientTimeout is how long a run of the client may take by default.
const clientTimeout = 5 * time.Minute

// SecretDir is where the Secret is mounted.
const SecretDir = "/secret"

// Keys is the result of a run of the client. It mirrors the output of test/client.
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

// Clients runs test/client in Pods.
type Clients struct {
	Kube      client.Client
	Config    *rest.Config
	Namespace string
	Image     string
	Secret    string        // a Secret to mount at SecretDir; none by default
	Timeout   time.Duration // of a run; 5 minutes by default

	// Requests are the client's resource requests. Without a request for CPU, the client gets only the CPU time that other
	// Pods leave.
	Requests corev1.ResourceList
}

// Reach returns the arguments by which the client finds the memcached servers of a cache: its slots or, without slots,
// the Pods that are ready now.
func Reach(mc *cachev1.Memcached) []string {
	if len(mc.Status.Slots) > 0 {
		var addresses []string
		for _, slot := range mc.Status.Slots {
			addresses = append(addresses, slot.Address)
		}
		return []string{"--endpoint=" + strings.Join(addresses, ",")}
	}
	return []string{"--endpoint=" + mc.Status.Endpoint, fmt.Sprintf("--nodes=%d", mc.Status.ReadyReplicas)}
}

// Run runs the client in a new Pod to completion. It calls update with what the Pod waits for.
func (c Clients) Run(ctx context.Context, update func(string), args ...string) (Keys, error) {
	var keys Keys
	output, err := c.Output(ctx, update, args...)
	if err != nil {
		return keys, err
	}
	if err := json.Unmarshal(output, &keys); err != nil {
		return keys, fmt.Errorf("the client printed %q: %w", output, err)
	}
	return keys, nil
}

// Output runs the client like Run, and returns what it printed.
func (c Clients) Output(ctx context.Context, update func(string), args ...string) ([]byte, error) {
	pod, err := c.Start(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Kube.Delete(context.WithoutCancel(ctx), pod) }()
	reason := ""
	ended := func(ctx context.Context) (bool, error) {
		err := c.Kube.Get(ctx, client.ObjectKeyFromObject(pod), pod)
		reason = waiting(pod)
		update(reason)
		return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed, err
	}
	limit := cmp.Or(c.Timeout, clientTimeout)
	if err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, limit, true, ended); err != nil {
		return nil, fmt.Errorf("wait for the client Pod %s: %w: %s", pod.Name, err, reason)
	}
	output, err := c.Printed(ctx, pod)
	if err == nil && pod.Status.Phase != corev1.PodSucceeded {
		err = fmt.Errorf("the client failed: %s", output)
	}
	return output, err
}

// Start creates the client's Pod. The caller deletes it.
func (c Clients) Start(ctx context.Context, args ...string) (*corev1.Pod, error) {
	pod, err := c.pod(args)
	if err != nil {
		return nil, err
	}
	return pod, c.Kube.Create(ctx, pod)
}

// Printed returns what a client has printed so far. It fails while the client does not run yet.
func (c Clients) Printed(ctx context.Context, pod *corev1.Pod) ([]byte, error) {
	set, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return nil, err
	}
	return set.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(ctx)
}

//go:embed pod.yaml
var clientPod []byte

func (c Clients) pod(args []string) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	err := yaml.UnmarshalStrict(clientPod, pod)
	if err != nil {
		return nil, err
	}
	pod.Namespace = c.Namespace
	pod.Spec.Containers[0].Image, pod.Spec.Containers[0].Args = c.Image, args
	pod.Spec.Containers[0].Resources.Requests = c.Requests
	pod.Spec.Volumes[0].Secret.SecretName = c.Secret
	if c.Secret == "" {
		pod.Spec.Volumes, pod.Spec.Containers[0].VolumeMounts = nil, nil
	}
	return pod, nil
}

// Waiting returns the Pods that do not run, each with the reason, such as an image that cannot be pulled. It returns
// nothing if the Pods cannot be listed.
func Waiting(ctx context.Context, kube client.Reader, options ...client.ListOption) (reasons []string) {
	pods := &corev1.PodList{}
	_ = kube.List(ctx, pods, options...) // The caller's error is enough.
	for i := range pods.Items {
		if reason := waiting(&pods.Items[i]); reason != "" {
			reasons = append(reasons, reason)
		}
	}
	return reasons
}

// waiting returns why a Pod's containers do not run, or an empty text if they run.
func waiting(pod *corev1.Pod) string {
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
