package helm

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/jsonpath"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/chart"
)

const (
	deployment    = "Deployment/" + namespace + "/memcached-operator-controller-manager"
	networkPolicy = "NetworkPolicy/" + namespace + "/memcached-operator-controller-manager"
	metrics       = "Service/" + namespace + "/memcached-operator-controller-manager-metrics-service"
	rules         = "PrometheusRule/" + namespace + "/memcached-operator"
	serviceMon    = "ServiceMonitor/" + namespace + "/memcached-operator"
	crd           = "CustomResourceDefinition//memcacheds.cache.example.com"

	pod       = ".spec.template.spec"
	container = pod + ".containers[0]"
)

func variable(name string) string { return container + `.env[?(@.name=="` + name + `")].value` }

// missing is the value of a field or an object that does not exist.
const missing = "missing"

var digest = "sha256:" + strings.Repeat("a", 64)

// reach is a value of the chart, and the fields in which it must arrive. An empty field means the object as a whole.
type reach struct {
	values string
	object string
	want   map[string]string
}

var reaches = map[string]reach{
	"image.repository": {
		"image: {repository: mirror.example.com/operator}", deployment,
		map[string]string{container + ".image": "mirror.example.com/operator:0.0.1@" + digest},
	},
	"image.tag":        {"image: {tag: v1}", deployment, map[string]string{container + ".image": "registry.example.com/operator:v1"}},
	"image.digest":     {"image: {digest: '" + digest + "'}", deployment, map[string]string{container + ".image": "registry.example.com/operator@" + digest}},
	"image.pullPolicy": {"image: {pullPolicy: Always}", deployment, map[string]string{container + ".imagePullPolicy": "Always"}},
	"agent.image.repository": {
		"agent: {image: {repository: mirror.example.com/agent}}", deployment,
		map[string]string{variable("RELATED_IMAGE_AGENT"): "mirror.example.com/agent:0.0.2"},
	},
	"agent.image.tag": {
		"agent: {image: {tag: v1}}", deployment,
		map[string]string{variable("RELATED_IMAGE_AGENT"): "registry.example.com/agent:v1"},
	},
	"agent.image.digest": {
		"agent: {image: {tag: v1, digest: '" + digest + "'}}", deployment,
		map[string]string{variable("RELATED_IMAGE_AGENT"): "registry.example.com/agent:v1@" + digest},
	},
	"snapshot.image.repository": {
		"snapshot: {image: {repository: mirror.example.com/snapshot}}", deployment,
		map[string]string{variable("RELATED_IMAGE_SNAPSHOT"): "mirror.example.com/snapshot:0.1.0"},
	},
	"snapshot.image.tag": {
		"snapshot: {image: {tag: v1}}", deployment,
		map[string]string{variable("RELATED_IMAGE_SNAPSHOT"): "registry.example.com/memcached-snapshot:v1"},
	},
	"snapshot.image.digest": {
		"snapshot: {image: {tag: v1, digest: '" + digest + "'}}", deployment,
		map[string]string{variable("RELATED_IMAGE_SNAPSHOT"): "registry.example.com/memcached-snapshot:v1@" + digest},
	},
	"memcached.image.repository": {
		"memcached: {image: {repository: mirror.example.com/memcached}}", deployment,
		map[string]string{variable("RELATED_IMAGE_MEMCACHED"): "mirror.example.com/memcached:1"},
	},
	"memcached.image.tag": {
		"memcached: {image: {tag: '2'}}", deployment,
		map[string]string{variable("RELATED_IMAGE_MEMCACHED"): "registry.example.com/memcached:2"},
	},
	"memcached.image.digest": {
		"memcached: {image: {digest: '" + digest + "'}}", deployment,
		map[string]string{variable("RELATED_IMAGE_MEMCACHED"): "registry.example.com/memcached@" + digest},
	},
	"imagePullSecrets": {"imagePullSecrets: [{name: mine}]", deployment, map[string]string{pod + ".imagePullSecrets": `[{"name":"mine"}]`}},
	"replicas":         {"replicas: 3", deployment, map[string]string{".spec.replicas": "3"}},
	"architectures": {"architectures: [s390x, amd64]", deployment, map[string]string{
		variable("OPERAND_ARCHITECTURES"): "s390x,amd64",
		pod + ".affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution" +
			".nodeSelectorTerms[0].matchExpressions[1].values": `["s390x","amd64"]`,
		pod + ".affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[*].weight": "20",
	}},
	"watchNamespaces": {"watchNamespaces: [team-a, team-b]", deployment, map[string]string{variable("WATCH_NAMESPACE"): "team-a,team-b"}},
	"watchNamespaces, the rights in each": {
		"watchNamespaces: [team-a, team-b]", "RoleBinding/team-b/memcached-operator-manager-rolebinding",
		map[string]string{".subjects[0].namespace": namespace, ".roleRef.name": "memcached-operator-manager-role"},
	},
	"watchNamespaces, no right elsewhere": {
		"watchNamespaces: [team-a]", "ClusterRoleBinding//memcached-operator-manager-rolebinding", map[string]string{"": missing},
	},
	"rbac.binding": {"rbac: {binding: true}", "ClusterRole//memcached-operator-manager-role", map[string]string{
		".rules[-1:].resources": `["secrets"]`, ".rules[-1:].verbs": `["create","delete","patch"]`,
	}},
	"rbac.slots": {"rbac: {slots: false}", "ClusterRole//memcached-operator-manager-role", map[string]string{
		".rules[1].verbs": `["list","watch"]`,
	}},
	"rbac.slots, of the operator that runs": {"rbac: {slots: false}", deployment, map[string]string{
		`.spec.template.metadata.annotations.cache\.example\.com/rights`: "without-slots",
	}},
	"resources": {"resources: {limits: {memory: 1Gi}}", deployment, map[string]string{
		container + ".resources": `{"limits":{"memory":"1Gi"},"requests":{"cpu":"10m","memory":"128Mi"}}`,
	}},
	"metrics.enabled": {"metrics: {enabled: false}", deployment, map[string]string{
		container + ".args": `["--leader-elect","--metrics-bind-address=0"]`, container + ".ports[*].name": "probes",
	}},
	"metrics.enabled, the Service":       {"metrics: {enabled: false}", metrics, map[string]string{"": missing}},
	"metrics.enabled, the NetworkPolicy": {"metrics: {enabled: false}", networkPolicy, map[string]string{".spec.ingress[*].ports[*].port": "8081"}},
	"metrics.enabled, the right to ask": {
		"metrics: {enabled: false}", "ClusterRoleBinding//memcached-operator-metrics-auth-rolebinding", map[string]string{"": missing},
	},
	"monitoring.enabled": {"monitoring: {enabled: true}", serviceMon, map[string]string{".spec.endpoints[0].port": "https"}},
	"monitoring.enabled, caches": {
		"monitoring: {enabled: true}", "PodMonitor/" + namespace + "/memcached", map[string]string{"": "there"},
	},
	// Without metrics, the alert for missing metrics would fire for ever, and Prometheus would scrape nothing.
	"monitoring.enabled, metrics are off": {
		"{monitoring: {enabled: true}, metrics: {enabled: false}}", rules, map[string]string{".spec.groups[*].name": "memcached-usual memcached"},
	},
	"monitoring.enabled, rights in one namespace": {
		"{monitoring: {enabled: true}, watchNamespaces: [a]}", rules, map[string]string{".spec.groups[*].name": "memcached-usual memcached"},
	},
	"monitoring.enabled, with metrics": {
		"monitoring: {enabled: true}", rules, map[string]string{".spec.groups[*].name": "memcached-usual memcached memcached-operator"},
	},
	"networkPolicy.enabled": {"networkPolicy: {enabled: false}", networkPolicy, map[string]string{"": missing}},
	"crds.install":          {"crds: {install: false}", crd, map[string]string{"": missing}},
	"crds.keep":             {"crds: {keep: false}", crd, map[string]string{`.metadata.annotations.helm\.sh/resource-policy`: missing}},
	"extraArgs": {"extraArgs: [--sync-period=1h]", deployment, map[string]string{
		container + ".args": `["--leader-elect","--sync-period=1h"]`,
	}},
	"nodeSelector":      {"nodeSelector: {pool: system}", deployment, map[string]string{pod + ".nodeSelector": `{"pool":"system"}`}},
	"tolerations":       {"tolerations: [{operator: Exists}]", deployment, map[string]string{pod + ".tolerations": `[{"operator":"Exists"}]`}},
	"priorityClassName": {"priorityClassName: high", deployment, map[string]string{pod + ".priorityClassName": "high"}},
	"podAnnotations": {"podAnnotations: {a: 'true'}", deployment, map[string]string{
		".spec.template.metadata.annotations": `{"a":"true","kubectl.kubernetes.io/default-container":"manager"}`,
	}},
	"podLabels": {"podLabels: {a: b}", deployment, map[string]string{
		".spec.template.metadata.labels": `{"a":"b","app.kubernetes.io/name":"memcached-operator","control-plane":"controller-manager"}`,
		".spec.selector.matchLabels":     `{"app.kubernetes.io/name":"memcached-operator","control-plane":"controller-manager"}`,
	}},
}

var released = chart.Options{
	Version: version,
	Images: bundle.Images{
		Operator:  "registry.example.com/operator:0.0.1@" + digest,
		Agent:     "registry.example.com/agent:0.0.2",
		Memcached: "registry.example.com/memcached:1",
	},
}

func TestEachValueReachesItsFields(t *testing.T) {
	loaded := load(t, pack(t, released))
	defaults := mustTemplate(t, loaded, "")
	for name, tc := range reaches {
		t.Run(name, func(t *testing.T) {
			rendered := mustTemplate(t, loaded, tc.values)
			got, before := map[string]string{}, map[string]string{}
			for field := range tc.want {
				got[field], before[field] = look(t, rendered[tc.object], field), look(t, defaults[tc.object], field)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.object, diff)
			}
			if cmp.Equal(before, got) {
				t.Errorf("%s is the same without %s", tc.object, tc.values)
			}
		})
	}
}

// TestAnOperatorWithoutMetricsIsNotMonitored renders the chart with values that disable metrics, and with values that
// give rights in some namespaces only.
func TestAnOperatorWithoutMetricsIsNotMonitored(t *testing.T) {
	loaded := load(t, pack(t, released))
	for _, values := range []string{"metrics: {enabled: false}", "watchNamespaces: [team-a]"} {
		rendered := mustTemplate(t, loaded, "{monitoring: {enabled: true}, "+values+"}")
		for id, object := range rendered {
			if strings.HasSuffix(id, "-scraper") || id == serviceMon {
				t.Errorf("%s: there is a %s", values, id)
			}
			role := look(t, object, ".roleRef.name")
			if strings.HasPrefix(id, "ClusterRoleBinding") && rendered["ClusterRole//"+role] == nil {
				t.Errorf("%s: %s binds %s, which is not there", values, id, role)
			}
		}
	}
}

func TestNoValueIsUntested(t *testing.T) {
	tested := map[string]bool{}
	for name := range reaches {
		value, _, _ := strings.Cut(name, ",")
		tested[value] = true
	}
	var want []string
	for value, schema := range load(t, pack(t, released)).Values {
		want = append(want, leaves(value, schema)...)
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(tested))); diff != "" {
		t.Errorf("values (-of the chart +tested):\n%s", diff)
	}
}

// leaves returns the paths of the values below a value. Resources count as one value, because Kubernetes defines their
// fields.
func leaves(path string, value any) []string {
	inner, ok := value.(map[string]any)
	if !ok || len(inner) == 0 || path == "resources" {
		return []string{path}
	}
	var found []string
	for name, value := range inner {
		found = append(found, leaves(path+"."+name, value)...)
	}
	return found
}

// look returns the value of a field in the form in which kubectl get -o jsonpath prints it.
func look(t *testing.T, object map[string]any, field string) string {
	t.Helper()
	if object == nil {
		return missing
	}
	if field == "" {
		return "there"
	}
	path := jsonpath.New(field).AllowMissingKeys(true)
	path.EnableJSONOutput(false)
	if err := path.Parse("{" + field + "}"); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := path.Execute(&text, object); err != nil {
		t.Fatal(err)
	}
	if text.Len() == 0 {
		return missing
	}
	return text.String()
}
