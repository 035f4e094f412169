package model

import (
	"fmt"
	"slices"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// bootstrapMark is the annotation of the Pod that copies keys from other memcached servers into a cache, and of the
// Pod's Deployment.
const bootstrapMark = "cache.example.com/bootstrap"

// isBootstrap reports whether an object runs the Pod that copies the keys of other servers.
func (s slotRef) isBootstrap() bool { return s.slot == "bootstrap" }

// isMain reports whether an object is the Deployment of the memcached Pods.
func isMain(o *object) bool {
	_, other := slotOf(refOf(o))
	return o.GetKind() == "Deployment" && !other
}

// movesIn reports whether the spec requests a Pod that copies the keys of other servers. The keys of a snapshot are
// restored by a Job instead.
func movesIn(mc *cachev1.Memcached) bool {
	return mc.Spec.Bootstrap != nil && mc.Spec.Bootstrap.From.Snapshot == nil
}

// holdsStill reports whether the operator delays changes to a cache because clients may also still use the servers from
// which the keys are copied.
func holdsStill(mc *cachev1.Memcached) bool {
	return movesIn(mc) && mc.Spec.Bootstrap.Mode == cachev1.BootstrapCutOver
}

// wrongBootstrap returns what differs from the spec in the Deployment that copies keys.
func wrongBootstrap(body *object, mc *cachev1.Memcached) string {
	if !movesIn(mc) {
		return "the spec names no other servers"
	}
	containers, _ := value(body, "spec", "template", "spec", "containers").([]any)
	if len(containers) != 1 {
		return fmt.Sprintf("%d containers copy keys", len(containers))
	}
	container, _ := containers[0].(map[string]any)
	arguments, _ := container["args"].([]any)
	for _, server := range mc.Spec.Bootstrap.From.Servers {
		if !slices.Contains(arguments, any("--from="+server)) {
			return fmt.Sprintf("no keys are copied from %s: %v", server, arguments)
		}
	}
	return unexpected(body, []expectation{
		{"Recreate", []string{"spec", "strategy", "type"}},
		{1, []string{"spec", "replicas"}},
		{bootstrapSelector(mc.Name), []string{"spec", "selector", "matchLabels"}},
	})
}

// bootstrapSelector returns the labels that select the Pod that copies keys, and no memcached Pod.
func bootstrapSelector(cache string) map[string]string {
	return map[string]string{"app": "memcached", "memcached_cr": cache + "_bootstrap"}
}
