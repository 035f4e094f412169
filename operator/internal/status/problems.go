package status

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

// problemsOf states why Pods do not become ready, or returns "". If Pods cannot be created, the Deployment has the
// reason; problems of existing Pods are counted, the most frequent first.
func problemsOf(in Input) string {
	if refusal := refusal(in.deployed()); refusal != "" {
		return "Pods cannot be created: " + observe.OneLine(refusal) + fieldsToSet(refusal)
	}
	noNodeFits := NoNodeFits(in)
	counts := map[string]int{}
	for _, pod := range in.Snapshot.Pods {
		switch {
		case pod.Unschedulable && noNodeFits:
			counts[observe.CanNotBeScheduled+missingArchitectures(in)]++
		case pod.Problem != "":
			counts[pod.Problem]++
		}
	}
	problems := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	for i, problem := range problems {
		problems[i] = countedPods(counts[problem]) + ": " + problem
	}
	return strings.Join(problems, "; ")
}

// refusal returns why Pods, or their ReplicaSet, cannot be created.
func refusal(deployed appsv1.DeploymentStatus) string {
	pods := deploymentCondition(deployed, appsv1.DeploymentReplicaFailure)
	if pods != nil && pods.Status == corev1.ConditionTrue {
		return pods.Message
	}
	replicaSet := deploymentCondition(deployed, appsv1.DeploymentProgressing)
	if replicaSet != nil && replicaSet.Reason == replicaSetRefused {
		return replicaSet.Message
	}
	return ""
}

func countedPods(count int) string {
	if count == 1 {
		return "1 Pod"
	}
	return fmt.Sprintf("%d Pods", count)
}

// unresponsive counts the Pods that run and fail their readiness probe.
func unresponsive(in Input) string {
	silent := 0
	for _, pod := range in.Snapshot.Pods {
		if pod.Unresponsive {
			silent++
		}
	}
	if silent == 0 {
		return ""
	}
	return fmt.Sprintf("; %s: memcached runs but does not answer on port %d",
		countedPods(silent), in.Plan.ClientPorts()[0].Number)
}
