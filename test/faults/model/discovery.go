package model

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

// discoveryMark is the key of an annotation and of a label. The annotation of a Pod lists the servers of the cache.
// Clients reach the Pods that have the label.
const discoveryMark = "cache.example.com/discovery"

func discoveryRules() []Rule {
	return []Rule{{
		Name: "a newer list of servers has a higher version",
		Promise: "If the operator writes a list of the cache's servers to a Pod, the list has a higher version than " +
			"every different list that a Pod of the cache has at that time.",
		New: newerList,
	}}
}

// servers is the list of servers that the operator has announced to clients, in the annotation of a Pod.
type servers struct {
	Version  int64
	Endpoint string
	Nodes    json.RawMessage
}

func serversOf(pod *object) (list servers, ok bool) {
	err := json.Unmarshal([]byte(pod.GetAnnotations()[discoveryMark]), &list)
	return list, err == nil && list.Version > 0
}

func newerList(p *past) func(history.Entry) string {
	return func(e history.Entry) string {
		if p.byOperator(e) == nil || e.State.Type == watch.Deleted || e.State.Object.GetKind() != "Pod" {
			return ""
		}
		pod, before := e.State.Object, p.before(e.State.Object)
		announced, ok := serversOf(pod)
		if !ok || before != nil && before.GetAnnotations()[discoveryMark] == pod.GetAnnotations()[discoveryMark] {
			return ""
		}
		for _, other := range p.otherPods(pod, before) {
			known, ok := serversOf(other)
			isOther := string(known.Nodes) != string(announced.Nodes) || known.Endpoint != announced.Endpoint
			if ok && isOther && known.Version >= announced.Version {
				return fmt.Sprintf("Pod %s gets %s (version %d), and Pod %s has %s (version %d)",
					pod.GetName(), announced.Nodes, announced.Version, other.GetName(), known.Nodes, known.Version)
			}
		}
		return ""
	}
}

// otherPods returns the other Pods of the same cache and, if the Pod existed before, its earlier state.
func (p *past) otherPods(pod, before *object) []*object {
	var pods []*object
	for _, other := range p.existing("Pod") {
		if other.GetUID() != pod.GetUID() && other.GetLabels()["memcached_cr"] == pod.GetLabels()["memcached_cr"] {
			pods = append(pods, other)
		}
	}
	if before != nil {
		pods = append(pods, before)
	}
	return pods
}

// neededWithoutSlots returns why the operator may not request the deletion of an object of discovery or of a bootstrap.
func (p *past) neededWithoutSlots(of slotRef, q *audit.Request) string {
	for _, mc := range p.specsNamed(of.cache, history.ProcessOf(q)) {
		if !of.isWanted(mc) {
			return ""
		}
	}
	return fmt.Sprintf("the operator requested the deletion of %s %s, although the spec requests the object, and got "+
		"the status code %d", q.Resource(), q.ObjectRef.Name,
		q.Response.Code)
}
