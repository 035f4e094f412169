package plan

// Finds errors in the spec that the schema cannot find, with the fix.

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/memcached"
)

// validate returns all problems of a spec together.
func validate(mc *cachev1.Memcached, pod Pod, defaults Defaults) []string {
	spec := mc.Spec
	problems := slices.Concat(slotProblems(mc, defaults), discoveryProblems(mc, defaults),
		bindingProblems(mc, defaults), bootstrapProblems(mc), autoscalingProblems(mc, pod))
	for _, problem := range []string{
		imageProblem(spec),
		itemSizeProblem(spec, pod),
		argumentsProblem(spec),
		memoryProblem(spec, pod),
		agentMemoryProblem(pod),
	} {
		if problem != "" {
			problems = append(problems, problem)
		}
	}
	problems = append(problems, requestProblems("spec.resources", pod.Resources)...)
	if pod.Agent != nil {
		problems = append(problems, requestProblems("spec.agent.resources", pod.Agent.Resources)...)
	}
	problems = append(problems, metadataProblems(spec, pod)...)
	problems = append(problems, appArmorProblems(pod.PodTemplate.Metadata.Annotations)...)
	problems = append(problems, placementProblems(pod.Placement)...)
	return append(problems, dnsProblems(pod.PodTemplate.DNSConfig)...)
}

func imageProblem(spec cachev1.MemcachedSpec) string {
	if spec.Image == "" {
		return ""
	}
	if _, err := reference.ParseDockerRef(spec.Image); err != nil {
		return fmt.Sprintf("spec.image %q is not an image reference (%v): write [registry[:port]/]name[:tag][@digest]",
			spec.Image, err)
	}
	return ""
}

func itemSizeProblem(spec cachev1.MemcachedSpec, p Pod) string {
	size, largest := p.Memcached.MaxItemSize, memcached.LargestItem(p.Memcached.ItemMemory)
	if odd := size % memcached.ItemChunk; odd != 0 {
		return fmt.Sprintf("spec.maxItemSize %q is not a multiple of 512Ki, "+
			"and memcached would not start: set it to %s or %s",
			spec.MaxItemSize, bytes(size-odd), bytes(size-odd+memcached.ItemChunk))
	}
	if size <= largest {
		return ""
	}
	return fmt.Sprintf("spec.maxItemSize %q is more than half of memory, and memcached would not start: "+
		"lower it to at most %s, or raise spec.memory to at least %s",
		spec.MaxItemSize, bytes(largest), mebibytes(2*size))
}

func argumentsProblem(spec cachev1.MemcachedSpec) string {
	for _, argument := range spec.ExtraArgs {
		if strings.Contains(argument, "$(") { // The kubelet could expand it to a refused option.
			return fmt.Sprintf("spec.extraArgs: %q contains \"$(\", and the kubelet would replace it by an environment "+
				"variable: write the value itself", argument)
		}
	}
	if err := memcached.CheckArguments(spec.ExtraArgs); err != nil {
		return fmt.Sprintf("spec.extraArgs: %v", err)
	}
	if keeps := memcached.KeepsMemory(spec.ExtraArgs); keeps != "" && Resizes(spec) {
		return fmt.Sprintf("spec.extraArgs: with %q, a running memcached can't get another amount of memory: remove the "+
			"argument, or set "+
			"spec.rollout.memoryChange to Replace", keeps)
	}
	return ""
}

func memoryProblem(spec cachev1.MemcachedSpec, p Pod) string {
	needed := memcached.ContainerMemory(p.Memcached)
	if p.Resources.Limits.Memory().CmpInt64(needed) >= 0 {
		return ""
	}
	return fmt.Sprintf("spec.resources.limits.memory %q is less than a full Pod needs (%s: "+
		"%s for items, the rest for %d connections, %d threads and memcached itself), and memcached would be killed: "+
		"raise the limit to at least %[2]s, or lower spec.memory, spec.maxConnections or spec.threads",
		spec.Resources.Limits.Memory(), mebibytes(needed), mebibytes(p.Memcached.ItemMemory),
		p.Memcached.MaxConnections, p.Memcached.Threads)
}

func agentMemoryProblem(p Pod) string {
	if p.Agent == nil || p.Agent.Resources.Limits.Memory().CmpInt64(agentMemory) >= 0 {
		return ""
	}
	return fmt.Sprintf("spec.agent.resources.limits.memory %q is less than the agent needs, and the agent would be "+
		"killed: raise the limit to at least %s", p.Agent.Resources.Limits.Memory(), bytes(agentMemory))
}

// requestProblems finds requests above their limits, in a stable order.
func requestProblems(field string, resources corev1.ResourceRequirements) []string {
	var problems []string
	for name, request := range resources.Requests {
		if limit, limited := resources.Limits[name]; limited && request.Cmp(limit) > 0 {
			problems = append(problems, fmt.Sprintf("%s.requests.%s %q is more than its limit %q: "+
				"lower the request or raise the limit", field, name, request.String(), limit.String()))
		}
	}
	slices.Sort(problems) // The order of requests is random.
	return problems
}

// metadataProblems finds names and values that the API server would reject in the managed objects.
func metadataProblems(spec cachev1.MemcachedSpec, pod Pod) []string {
	common, template, service := orZero(spec.CommonMetadata), pod.PodTemplate.Metadata, service(spec).Metadata
	labels := []values{
		{"spec.commonMetadata.labels", common.Labels}, {"spec.podTemplate.metadata.labels", template.Labels},
		{"spec.service.metadata.labels", service.Labels}, {"spec.placement.nodeSelector", pod.Placement.NodeSelector},
	}
	annotations := []values{
		{"spec.commonMetadata.annotations", common.Annotations},
		{"spec.podTemplate.metadata.annotations", template.Annotations},
		{"spec.service.metadata.annotations", service.Annotations},
	}
	found := invalid(labels, metav1validation.ValidateLabels)
	found = append(found, invalid(annotations, validation.ValidateAnnotations)...)
	var problems []string
	for _, problem := range found {
		problems = append(problems, problem.Error())
	}
	slices.Sort(problems) // The order of labels is random.
	return problems
}

// values are the labels, annotations or selected labels of a field.
type values struct {
	field string
	of    map[string]string
}

// invalid returns the errors of a check. It leaves out fields without values: most Memcacheds set none of them.
func invalid(fields []values, check func(map[string]string, *field.Path) field.ErrorList) (found field.ErrorList) {
	for _, values := range fields {
		if len(values.of) > 0 {
			found = append(found, check(values.of, field.NewPath(values.field))...)
		}
	}
	return found
}

// appArmorProblems finds annotations that would lift the container runtime's AppArmor profile, which the restricted Pod
// Security Standard forbids. They are refused, because the author of a Memcached may have no right to create such Pods.
func appArmorProblems(annotations map[string]string) []string {
	var problems []string
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		profile := annotations[name]
		if !strings.HasPrefix(name, corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix) ||
			profile == "" || profile == corev1.DeprecatedAppArmorBetaProfileRuntimeDefault ||
			strings.HasPrefix(profile, corev1.DeprecatedAppArmorBetaProfileNamePrefix) {
			continue
		}
		problems = append(problems, fmt.Sprintf("spec.podTemplate.metadata.annotations[%s] %q is refused by the restricted "+
			"Pod Security Standard: set %s or %sPROFILE, or remove it", name, profile,
			corev1.DeprecatedAppArmorBetaProfileRuntimeDefault, corev1.DeprecatedAppArmorBetaProfileNamePrefix))
	}
	return problems
}

// dnsProblems finds name servers and domains that the API server would reject.
func dnsProblems(config *cachev1.DNSConfig) []string {
	var problems []string
	for i, server := range orZero(config).Nameservers {
		if len(utilvalidation.IsValidIP(field.NewPath(""), server)) > 0 {
			problems = append(problems, fmt.Sprintf("spec.podTemplate.dnsConfig.nameservers[%d] %q is not an IP address: "+
				"write one, such as 10.0.0.10", i, server))
		}
	}
	for i, domain := range orZero(config).Searches {
		if !isSearchDomain(domain) {
			problems = append(problems, fmt.Sprintf("spec.podTemplate.dnsConfig.searches[%d] %q is not a domain: write one in "+
				"lower case, such as example.com", i, domain))
		}
	}
	return problems
}

// isSearchDomain accepts the domains that Kubernetes accepts since version 1.32. They include the root domain, and
// names with underscores.
func isSearchDomain(domain string) bool {
	name := strings.ReplaceAll(strings.TrimSuffix(domain, "."), "_", "0")
	return domain == "." || len(utilvalidation.IsDNS1123Subdomain(name)) == 0
}

// mebibytes returns a number of bytes as a quantity for a spec, rounded up to whole mebibytes.
func mebibytes(count int64) string {
	return bytes(memcached.RoundUp(count))
}

func bytes(count int64) string {
	return resource.NewQuantity(count, resource.BinarySI).String()
}
