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

// problemsOf says what keeps nodes from coming up, or nothing. A Pod that can't even be created is the Deployment's
// to tell; of the Pods that are there, equal troubles are counted, the most frequent first.
func problemsOf(in Input) string {
	if refusal := refusal(in.deployed()); refusal != "" {
		return "Pods cannot be created: " + observe.OneLine(refusal) + whichToSet(refusal)
	}
	lacks := LacksNodes(in)
	counts := map[string]int{}
	for _, pod := range in.Snapshot.Pods {
		switch {
		case pod.Unschedulable && lacks:
			counts[observe.CanNotBeScheduled+lack(in)]++
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

// refusal says why Pods, or the ReplicaSet that would make them, can't be created.
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

// unresponsive counts the nodes that run and do not answer their probe.
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
