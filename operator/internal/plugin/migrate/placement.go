package migrate

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// setOwnSelectors makes each selector that selects the release's own Pods select the Pods of the Memcached instead.
func (r *release) setOwnSelectors() {
	if r.spec.Placement == nil {
		return
	}
	for i := range r.spec.Placement.TopologySpreadConstraints {
		constraint := &r.spec.Placement.TopologySpreadConstraints[i]
		if r.selectsItself(constraint.LabelSelector) {
			constraint.LabelSelector = nil // Without a selector, the operator selects the Pods of the cache.
		}
	}
	if affinity := r.spec.Placement.Affinity; affinity != nil {
		r.setOwnPods(affinity)
	}
}

// setOwnPods replaces an affinity to the release's own Pods by an affinity to the Pods of the Memcached.
func (r *release) setOwnPods(affinity *corev1.Affinity) {
	var terms []*corev1.PodAffinityTerm
	add := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i := range required {
			terms = append(terms, &required[i])
		}
		for i := range preferred {
			terms = append(terms, &preferred[i].PodAffinityTerm)
		}
	}
	if pods := affinity.PodAffinity; pods != nil {
		add(pods.RequiredDuringSchedulingIgnoredDuringExecution, pods.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if pods := affinity.PodAntiAffinity; pods != nil {
		add(pods.RequiredDuringSchedulingIgnoredDuringExecution, pods.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	for _, term := range terms {
		if r.selectsItself(term.LabelSelector) {
			own := map[string]string{"app": "memcached", "memcached_cr": r.name}
			term.LabelSelector = &metav1.LabelSelector{MatchLabels: own}
		}
	}
}

// selectsItself returns whether a selector matches the Pods of the release.
func (r *release) selectsItself(selector *metav1.LabelSelector) bool {
	matcher, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && selector != nil && matcher.Matches(labels.Set{
		"app.kubernetes.io/name":       r.shortName(),
		"app.kubernetes.io/instance":   r.options.Release,
		"app.kubernetes.io/managed-by": "Helm",
		"app.kubernetes.io/component":  "memcached",
	})
}

// setResources translates the resources except for memory: the operator refuses a memory limit that is too small, and
// derives one that is large enough.
func (r *release) setResources() {
	if resources := r.resources("resources"); resources != nil {
		r.spec.Resources = &cachev1.MemcachedResources{Resources: *resources}
	}
	if !r.on("metrics.enabled") {
		return
	}
	if resources := r.resources("metrics.resources"); resources != nil {
		r.spec.Agent = &cachev1.Agent{Resources: resources}
	}
}

func (r *release) resources(path string) *cachev1.Resources {
	resources := get[cachev1.Resources](r, path)
	for _, list := range []struct {
		name   string
		amount corev1.ResourceList
	}{{"requests", resources.Requests}, {"limits", resources.Limits}} {
		if memory, found := list.amount[corev1.ResourceMemory]; found {
			delete(list.amount, corev1.ResourceMemory)
			r.report("%s.%s.memory %s: left out, because the operator derives an amount that is enough; see docs/memory.md",
				path, list.name, &memory)
		}
	}
	if len(resources.Requests)+len(resources.Limits) == 0 {
		return nil
	}
	return &resources
}

// setDisruption translates the PodDisruptionBudget. It converts minAvailable, which counts the Pods that stay
// available, to maxUnavailable.
func (r *release) setDisruption() {
	if !r.on("pdb.create") && !r.on("pdb.enabled") {
		return
	}
	most, least := r.text("pdb.maxUnavailable"), r.text("pdb.minAvailable")
	if most == "" && least == "" {
		return // The charts default to 1, as does the Memcached.
	}
	number := intstr.Parse(most)
	if most == "" {
		number = r.others(least)
	}
	if number != intstr.FromInt32(1) {
		r.spec.Disruption = &cachev1.Disruption{MaxUnavailable: &number}
	}
}

// others returns how many other Pods the release has besides this many (some). Like some, the result is a number or a
// percentage.
func (r *release) others(some string) intstr.IntOrString {
	if percentage, found := strings.CutSuffix(some, "%"); found {
		number, err := strconv.Atoi(percentage)
		if err != nil {
			r.fail("pdb.minAvailable %q: not a percentage; correct it", some)
		}
		return intstr.FromString(fmt.Sprintf("%d%%", max(0, 100-number)))
	}
	number, err := strconv.ParseInt(some, 10, 32)
	if err != nil {
		r.fail("pdb.minAvailable %q: not a number; correct it", some)
	}
	return intstr.FromInt32(max(0, *r.spec.Size-int32(number)))
}
