package model

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

func statusRules() []Rule {
	return []Rule{{
		Name:    "observedGeneration",
		Promise: "status.observedGeneration is the generation that the status describes: never ahead, and it never goes back.",
		New:     observedGeneration,
	}}
}

func observedGeneration(p *past) func(history.Entry) string {
	last := map[types.UID]int64{}
	return func(e history.Entry) string {
		if e.State == nil || e.State.Object.GetKind() != "Memcached" {
			return ""
		}
		o := e.State.Object
		observed := number(o, "status", "observedGeneration")
		before := last[o.GetUID()]
		last[o.GetUID()] = observed
		switch {
		case p.byOperator(e) == nil:
			return "" // another client may write what it likes
		case observed != o.GetGeneration():
			return fmt.Sprintf("%s: status.observedGeneration is %d, the generation is %d", o.GetName(), observed, o.GetGeneration())
		case observed < before:
			return fmt.Sprintf("%s: status.observedGeneration goes back from %d to %d", o.GetName(), before, observed)
		}
		return ""
	}
}
