package prometheus

import (
	"regexp"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"
)

// span is a length of time in a query.
var span = regexp.MustCompile(`(\[|offset )(\d+[smhd])`)

// Hurried returns rules with all lengths of time divided by a number, so that an alert fires that many times as fast.
// Thresholds stay the same, including those in seconds.
func Hurried(rules []byte, times int) ([]byte, error) {
	var spec monitoringv1.PrometheusRuleSpec
	if err := yaml.UnmarshalStrict(rules, &spec); err != nil {
		return nil, err
	}
	shorter := func(text string) string {
		length, err := model.ParseDuration(text)
		if err != nil {
			return text // Prometheus will refuse it.
		}
		return (length / model.Duration(times)).String()
	}
	for i := range spec.Groups {
		group := &spec.Groups[i]
		if group.Interval != nil {
			group.Interval = new(monitoringv1.Duration(shorter(string(*group.Interval))))
		}
		for j := range group.Rules {
			rule := &group.Rules[j]
			rule.Expr = intstr.FromString(span.ReplaceAllStringFunc(rule.Expr.String(), func(found string) string {
				parts := span.FindStringSubmatch(found)
				return parts[1] + shorter(parts[2])
			}))
			if rule.For != nil {
				rule.For = new(monitoringv1.Duration(shorter(string(*rule.For))))
			}
		}
	}
	return yaml.Marshal(spec)
}
