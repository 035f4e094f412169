package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

func fieldRules() []Rule {
	return []Rule{{
		Name: "fields",
		Promise: "The objects that the operator applies have the values of a spec that is in force: Deployments and " +
			"PodDisruptionBudgets its size, rollout and disruption; Pods its image, memory, threads, maxItemSize, ports, " +
			"resources and placement; and NetworkPolicies its clients.",
		New: fields,
	}}
}

func fields(p *past) func(history.Entry) string {
	return func(e history.Entry) string {
		o, by := p.writes(e)
		if o == nil || e.State.Type == watch.Deleted || by.FieldManager() != fieldManager || isJSONPatch(by) {
			return ""
		}
		body := bodyOf(by)
		if value(body, "spec") == nil { // It only takes over the fields of an earlier version.
			return ""
		}
		wrong := "there is no spec"
		for _, mc := range p.specsFor(o, by) {
			if wrong = mismatch(body, mc); wrong == "" {
				return ""
			}
		}
		return fmt.Sprintf("the operator applied %s %s with a "+
			"value that no spec in force requests: %s", o.GetKind(), o.GetName(), wrong)
	}
}

// mismatch returns the first field of an applied object that differs from what the spec requests, or "".
func mismatch(body *object, mc *cachev1.Memcached) string {
	var wanted []expectation
	switch body.GetKind() {
	case "Deployment":
		if !isMain(body) {
			return wrongBootstrap(body, mc)
		}
		return wrongDeployment(body, mc)
	case "Service":
		wanted = serviceOf(mc, body.GetName())
	case "NetworkPolicy":
		return wrongPeers(body, mc)
	case "PodDisruptionBudget":
		wanted = []expectation{{orDefault(orEmpty(mc.Spec.Disruption).MaxUnavailable, 1), []string{"spec", "maxUnavailable"}}}
	}
	return unexpected(body, wanted)
}

// unexpected returns the first field that differs from what is expected.
func unexpected(body *object, wanted []expectation) string {
	for _, want := range wanted {
		if got := value(body, want.path...); encoded(got) != encoded(want.value) {
			return fmt.Sprintf("%s is %s, not %s", strings.Join(want.path, "."), encoded(got), encoded(want.value))
		}
	}
	return ""
}

// wrongDeployment returns a field of the Deployment that differs from what the spec requests. A cache with slots may
// have more replicas than its size for a while. It may have fewer replicas if it keeps the keys when it is scaled,
// because then the operator adds one slot at a time.
func wrongDeployment(body *object, mc *cachev1.Memcached) string {
	hasSlots := isGated(body)
	replicas, addsSlots := number(body, "spec", "replicas"), hasSlots && orEmpty(mc.Spec.Slots).ClientHash != ""
	if !holdsStill(mc) && (replicas < sizeOf(mc) && !addsSlots || replicas > sizeOf(mc) && !hasSlots) {
		return fmt.Sprintf("spec.replicas is %d, not %d", replicas, sizeOf(mc))
	}
	if isKept(body) {
		return unexpected(body, deploymentOf(mc, hasSlots))
	}
	return cmp.Or(unexpected(body, append(deploymentOf(mc, hasSlots), podsOf(mc, hasSlots)...)),
		wrongArguments(body, mc), wrongPlace(body, mc))
}

// expectation is the value of a field; nil if it must not be applied.
type expectation struct {
	value any
	path  []string
}

func serviceOf(mc *cachev1.Memcached, name string) []expectation {
	clusterIP, selector := []string{"spec", "clusterIP"}, []string{"spec", "selector"}
	of, ok := slotOf(ref{"Service", name})
	switch {
	case !ok:
		return []expectation{{"None", clusterIP}, {selectorOf(mc), selector}}
	case of.isDiscovery():
		return []expectation{{nil, clusterIP}}
	case of.isRecord():
		return []expectation{{"None", clusterIP}, {nil, selector}}
	}
	return []expectation{{nil, clusterIP}, {nil, selector}}
}

// deploymentOf returns the expected fields of a Deployment. It omits the replicas, because with slots their number may
// differ for a while.
func deploymentOf(mc *cachev1.Memcached, hasSlots bool) []expectation {
	rollout := orEmpty(mc.Spec.Rollout)
	surge, unavailable := orDefault(rollout.MaxSurge, 1), orDefault(rollout.MaxUnavailable, 0)
	if hasSlots {
		unavailable = intstr.FromInt32(0)
		if surge == intstr.FromInt32(0) || surge == intstr.FromString("0%") {
			surge = intstr.FromInt32(1)
		}
	}
	var minReady any
	if seconds := rollout.MinReadySeconds; seconds != nil && *seconds > 0 {
		minReady = *seconds
	}
	return []expectation{
		{surge, []string{"spec", "strategy", "rollingUpdate", "maxSurge"}},
		{unavailable, []string{"spec", "strategy", "rollingUpdate", "maxUnavailable"}},
		{minReady, []string{"spec", "minReadySeconds"}},
		{selectorOf(mc), []string{"spec", "selector", "matchLabels"}},
	}
}

func selectorOf(mc *cachev1.Memcached) map[string]string {
	return map[string]string{"app": "memcached", "memcached_cr": mc.Name}
}

// defaultScheduler is the default of schedulerName, which need not be applied.
const defaultScheduler = "default-scheduler"

func podsOf(mc *cachev1.Memcached, hasSlots bool) []expectation {
	placement := orEmpty(mc.Spec.Placement)
	drain := valueOr(mc.Spec.TerminationDelaySeconds, 30)
	if hasSlots { // A Pod serves until another Pod has its keys. Then its agent ends memcached.
		drain += valueOr(orEmpty(orEmpty(mc.Spec.Slots).Handoff).TimeoutSeconds, 600) + 15
	}
	scheduler := placement.SchedulerName
	if scheduler == defaultScheduler {
		scheduler = ""
	}
	pod := func(name string) []string { return []string{"spec", "template", "spec", name} }
	return []expectation{
		{drain + 15, pod("terminationGracePeriodSeconds")},
		{orNothing(placement.PriorityClassName), pod("priorityClassName")},
		{orNothing(scheduler), pod("schedulerName")},
		{orNothing(placement.RuntimeClassName), pod("runtimeClassName")},
	}
}

const mebibyte = 1 << 20

// wrongArguments returns the argument of memcached that the spec requests and the Pod template does not have.
func wrongArguments(body *object, mc *cachev1.Memcached) string {
	containers, _ := value(body, "spec", "template", "spec", "containers").([]any)
	if len(containers) == 0 {
		return "the Pod template has no container"
	}
	container, _ := containers[0].(map[string]any)
	if image := mc.Spec.Image; image != "" && container["image"] != image {
		return fmt.Sprintf("the image is %v, not %s", container["image"], image)
	}
	arguments, _ := container["args"].([]any)
	for _, want := range argumentsOf(mc) {
		ofPods := keepsPods(mc) && strings.HasPrefix(want, memoryLimit) // The value may be of an earlier spec.
		if !ofPods && !slices.Contains(arguments, any(want)) {
			return fmt.Sprintf("memcached does not have the argument %s in %v", want, arguments)
		}
	}
	return ""
}

func argumentsOf(mc *cachev1.Memcached) []string {
	item := int64(mebibyte)
	if mc.Spec.MaxItemSize != nil {
		item = mc.Spec.MaxItemSize.Value()
	}
	port := "--port=11211"
	if tls := mc.Spec.TLS; tls != nil {
		port = "--listen=notls:127.0.0.1:11211,*:11212"
		if tls.Plaintext == cachev1.PlaintextEnabled {
			port = "--listen=notls:*:11211,*:11212"
		}
	}
	arguments := []string{
		port, fmt.Sprintf("%s%d", memoryLimit, itemsOf(mc)/mebibyte), fmt.Sprintf("--threads=%d", threadsOf(mc)),
		fmt.Sprintf("--max-item-size=%d", item),
	}
	return append(arguments, mc.Spec.ExtraArgs...)
}

// threadsOf returns the number of threads: by default four, more if the spec requests more CPUs, and fewer if the CPU
// limit is lower.
func threadsOf(mc *cachev1.Memcached) int64 {
	switch resources := mc.Spec.Resources; {
	case mc.Spec.Threads != nil:
		return int64(*mc.Spec.Threads)
	case resources == nil:
		return 4
	default:
		threads := max(4, min(64, resources.Requests.Cpu().Value()))
		if limit := resources.Limits.Cpu().Value(); limit > 0 {
			threads = min(threads, limit)
		}
		return threads
	}
}

func orDefault(value *intstr.IntOrString, fallback int32) intstr.IntOrString {
	if value == nil {
		return intstr.FromInt32(fallback)
	}
	return *value
}

func orEmpty[T any](value *T) T {
	var empty T
	if value == nil {
		return empty
	}
	return *value
}

func orNothing(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func valueOr(value *int32, fallback int32) int32 {
	if value == nil {
		return fallback
	}
	return *value
}
