package model

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

func statusRules() []Rule {
	return []Rule{{
		Name:    "observedGeneration",
		Promise: "status.observedGeneration is never ahead of the generation, and never goes back.",
		New:     observedGeneration,
	}}
}

func observedGeneration(h *history.History) func(history.Entry) string {
	last := map[types.UID]int64{}
	return func(e history.Entry) string {
		if e.State == nil || e.State.Object.GetKind() != "Memcached" {
			return ""
		}
		o := e.State.Object
		observed, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
		byOperator := e.State.By != nil && e.State.By.User.Username == h.Operator
		before := last[o.GetUID()]
		last[o.GetUID()] = observed
		switch {
		case !byOperator:
			return "" // another client may write what it likes
		case observed > o.GetGeneration():
			return fmt.Sprintf("%s: status.observedGeneration is %d, the generation is %d", o.GetName(), observed, o.GetGeneration())
		case observed < before:
			return fmt.Sprintf("%s: status.observedGeneration goes back from %d to %d", o.GetName(), before, observed)
		}
		return ""
	}
}
