package app

import (
	"context"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

const (
	// progressLines and progressBytes are how much of the end of an agent's log is read. It writes a line every 2
	// seconds while it copies.
	progressLines, progressBytes = int64(10), int64(16) << 10

	// progressTimeout limits the request: only metrics, an event and the state of a cold slot depend on the answer.
	progressTimeout = 5 * time.Second
)

// progressReader reads what the agent of a Pod has copied. Without an answer that is unknown.
func progressReader(
	config *rest.Config, client *http.Client,
) func(context.Context, types.NamespacedName) instruction.Progress {
	pods, err := corev1client.NewForConfigAndClient(config, client)
	if err != nil {
		panic(err) // The manager has made a client of the same configuration.
	}
	return func(ctx context.Context, pod types.NamespacedName) (progress instruction.Progress) {
		ctx, cancel := context.WithTimeout(ctx, progressTimeout)
		defer cancel()
		end, err := pods.Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{
			Container: names.Agent, TailLines: new(progressLines), LimitBytes: new(progressBytes),
		}).DoRaw(ctx)
		if err != nil {
			log.FromContext(ctx).V(1).Info("The agent's log cannot be read", "pod", pod.String(), "error", err.Error())
		}
		for line := range strings.Lines(string(end)) {
			if found, ok := instruction.DecodeProgress(line); ok {
				progress = found
			}
		}
		return progress
	}
}
