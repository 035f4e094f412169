package monitoring

import (
	"flag"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/internal/testing/tree"
	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

var update = flag.Bool("update", false, "write the PrometheusRule and the table of docs/monitoring.md again")

// ruleHead is the beginning of the object that contains the rules.
const ruleHead = `# Made of rules.yaml: make generate.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: memcached-operator
  namespace: memcached-operator-system
  labels:
    app.kubernetes.io/name: memcached-operator
spec:
`

func TestThePrometheusRuleHoldsTheRules(t *testing.T) {
	const path = repository + "/operator/config/monitoring/prometheusrule.yaml"
	_, groups, found := strings.Cut(page.Read(t, rulesFile), "\ngroups:\n")
	if !found {
		t.Fatalf("%s has no groups", rulesFile)
	}
	want := ruleHead
	for line := range strings.Lines("groups:\n" + groups) {
		if line != "\n" {
			line = "  " + line
		}
		want += line
	}
	page.Golden(t, path, want, *update)
	var rule monitoringv1.PrometheusRule
	decode(t, build(t, repository+"/operator/config/monitoring"), "PrometheusRule", &rule)
	var all []monitoringv1.Rule
	for _, group := range rule.Spec.Groups {
		all = append(all, group.Rules...)
	}
	if diff := cmp.Diff(rules(t), all); diff != "" {
		t.Errorf("rules (-rules.yaml +PrometheusRule):\n%s", diff)
	}
}

// nodeMetric matches a metric in a query, and the first label by which it is selected.
var nodeMetric = regexp.MustCompile(`\b(up|memcached_operator_\w+|memcached_\w+)\b(\{[^,}]*)?`)

func TestThePodMonitorFindsTheNodesOfEveryCache(t *testing.T) {
	var monitor monitoringv1.PodMonitor
	decode(t, build(t, repository+"/operator/config/monitoring"), "PodMonitor", &monitor)
	if !monitor.Spec.NamespaceSelector.Any {
		t.Error("it looks at some namespaces only")
	}
	selector, err := metav1.LabelSelectorAsSelector(&monitor.Spec.Selector)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		pod  labels.Set
		want bool
	}{
		"a node":                       {labels.Set{"app": "memcached", "memcached_cr": "sessions"}, true},
		"a Pod of another application": {labels.Set{"app": "memcached"}, false},
		"another program":              {labels.Set{"app": "web", "memcached_cr": "sessions"}, false},
	} {
		if got := selector.Matches(tc.pod); got != tc.want {
			t.Errorf("%s: selected %v, want %v", name, got, tc.want)
		}
	}
	relabeling := monitor.Spec.PodMetricsEndpoints[0].RelabelConfigs[0]
	if from := string(relabeling.SourceLabels[0]); from != "__meta_kubernetes_pod_label_memcached_cr" {
		t.Errorf("the label %s has its value from %s", relabeling.TargetLabel, from)
	}
	for _, rule := range rules(t) {
		for _, selector := range nodeMetric.FindAllString(rule.Expr.StrVal, -1) {
			ofOperator := strings.HasPrefix(selector, "memcached_operator_")
			if !ofOperator && !strings.HasSuffix(selector, "{"+relabeling.TargetLabel+`!=""`) {
				t.Errorf("%s selects more than the Pods of caches: %s", rule.Alert+rule.Record, selector)
			}
		}
	}
}

func TestTheServiceMonitorFindsTheOperatorAndMayReadItsMetrics(t *testing.T) {
	objects := build(t, folder(t,
		"resources: [ROOT/overlays/multiarch]\ncomponents: [ROOT/overlays/components/monitoring]\n"))
	var monitor monitoringv1.ServiceMonitor
	decode(t, objects, "ServiceMonitor", &monitor)
	var service corev1.Service
	decode(t, objects, "Service", &service)
	selector, err := metav1.LabelSelectorAsSelector(&monitor.Spec.Selector)
	if err != nil {
		t.Fatal(err)
	}
	if !selector.Matches(labels.Set(service.Labels)) || monitor.Namespace != service.Namespace {
		t.Errorf("it looks in %s for %s; the Service is in %s and has %v", monitor.Namespace, selector, service.Namespace, service.Labels)
	}
	endpoint := monitor.Spec.Endpoints[0]
	hasPort := func(p corev1.ServicePort) bool { return p.Name == endpoint.Port }
	if !slices.ContainsFunc(service.Spec.Ports, hasPort) || endpoint.Scheme == nil || endpoint.Scheme.String() != "https" {
		t.Errorf("port %q and scheme %v, of a Service with %v", endpoint.Port, endpoint.Scheme, service.Spec.Ports)
	}
	var secret corev1.Secret
	decode(t, objects, "Secret", &secret)
	if credentials := endpoint.Authorization.Credentials; credentials.Name != secret.Name || credentials.Key != corev1.ServiceAccountTokenKey {
		t.Errorf("its token is %s of the Secret %s, not of %s", credentials.Key, credentials.Name, secret.Name)
	}
	account := secret.Annotations[corev1.ServiceAccountNameKey]
	decode(t, objects, "ServiceAccount/"+account, &corev1.ServiceAccount{})
	var binding rbacv1.ClusterRoleBinding
	decode(t, objects, "ClusterRoleBinding/"+account, &binding)
	var role rbacv1.ClusterRole
	decode(t, objects, "ClusterRole/"+binding.RoleRef.Name, &role)
	want := []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}}
	if diff := cmp.Diff(want, role.Rules); diff != "" || binding.Subjects[0].Name != account {
		t.Errorf("what %s may (-want +got):\n%s", binding.Subjects[0].Name, diff)
	}
}

// folder makes a folder with a kustomization as a user would write it. In it, ROOT stands for the repository.
func folder(t *testing.T, kustomization string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	if root, err = filepath.Rel(dir, root); err != nil { // kustomize refuses an absolute path
		t.Fatal(err)
	}
	tree.Write(t, dir, map[string]string{"kustomization.yaml": strings.ReplaceAll(kustomization, "ROOT", root)})
	return dir
}

func build(t *testing.T, dir string) resmap.ResMap {
	t.Helper()
	objects, err := kustomize.Build(dir)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// decode reads the object with this kind/name, or the only object of this kind. It refuses fields that the kind does
// not have.
func decode(t *testing.T, objects resmap.ResMap, id string, into any) {
	t.Helper()
	kind, name, _ := strings.Cut(id, "/")
	found := 0
	for _, object := range objects.Resources() {
		if object.GetKind() != kind || name != "" && object.GetName() != name {
			continue
		}
		found++
		if err := yaml.UnmarshalStrict([]byte(object.MustYaml()), into); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
	}
	if found != 1 {
		t.Fatalf("%d objects are a %s, want 1", found, id)
	}
}
