package status

import (
	"regexp"
	"slices"
	"strings"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// resourceFields are the fields of the spec with a container's resources.
var resourceFields = map[string]string{names.Container: "spec.resources", names.Agent: "spec.agent.resources"}

// mustSpecify matches the message of a quota about containers without a resource: "must specify limits.cpu for:
// agent,memcached; limits.memory for: agent" (kubernetes, pkg/quota/v1/evaluator/core/pods.go).
var mustSpecify = regexp.MustCompile(`([\w./-]+) for: ([\w.,-]+)`)

// ofALimitRange matches the message of a LimitRange about a container or a Pod: "maximum cpu usage per Container is
// 500m, but limit is 2" (kubernetes, plugin/pkg/admission/limitranger).
var ofALimitRange = regexp.MustCompile(` per (Container|Pod) is `)

// fieldsToSet names the fields of the spec with which the operator's containers would satisfy a quota or a LimitRange.
func fieldsToSet(refusal string) string {
	_, asked, found := strings.Cut(refusal, "must specify ")
	if !found {
		if ofALimitRange.MatchString(refusal) {
			return " (see spec.resources and spec.agent.resources)"
		}
		return ""
	}
	var fields []string
	for _, match := range mustSpecify.FindAllStringSubmatch(asked, -1) {
		for container := range strings.SplitSeq(match[2], ",") {
			if field, owned := resourceFields[container]; owned {
				fields = append(fields, field+"."+resourcePath(match[1]))
			}
		}
	}
	if len(fields) == 0 {
		return ""
	}
	slices.Sort(fields)
	return " (set " + strings.Join(slices.Compact(fields), ", ") + ")"
}

// resourcePath returns the path of a quota's resource name in a container: cpu, for example, means requests.cpu.
func resourcePath(name string) string {
	if strings.HasPrefix(name, "limits.") || strings.HasPrefix(name, "requests.") {
		return name
	}
	return "requests." + name
}
