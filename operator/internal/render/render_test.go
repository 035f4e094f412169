package render

import (
	"encoding/json"
	"errors"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/applyconfigurations"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/secrets/users"
)

var update = flag.Bool("update", false, "write the golden files again")

var defaults = plan.Defaults{
	Revisions: Revisions(), Image: "registry.example.com/memcached:1.6.45", Architectures: []string{"amd64", "arm64"},
	Platform: plan.Kubernetes, AgentImage: "registry.example.com/memcached-agent:0.1.0",
	Namespace: "memcached-operator-system",
}

// memcachedWith returns a Memcached whose spec has nothing but a size of three, and the change of a test case.
func memcachedWith(change func(*cachev1.MemcachedSpec)) *cachev1.Memcached {
	mc := &cachev1.Memcached{TypeMeta: metav1.TypeMeta{APIVersion: cachev1.GroupVersion.String(), Kind: "Memcached"}}
	mc.Name, mc.Namespace, mc.UID = "cache", "team", "00000000-0000-0000-0000-000000000001"
	mc.Spec.Size = new(int32(3))
	change(&mc.Spec)
	return mc
}

// computed returns the plan of a cache.
func computed(mc *cachev1.Memcached, current plan.Current, defaults plan.Defaults) (plan.Plan, error) {
	outcome, _, err := decided(mc, current, defaults)
	if invalid, ok := outcome.(plan.Invalid); ok {
		err = errors.New(invalid.Message())
	}
	p, _ := plan.Of(outcome)
	return p, err
}

// decided returns the outcome for a cache, and its Pod template, like the package desired. It can't use that package,
// which imports this one.
func decided(mc *cachev1.Memcached, current plan.Current, defaults plan.Defaults) (plan.Outcome, Template, error) {
	draft, err := plan.Resolve(mc, current, defaults)
	if err != nil {
		return nil, Template{}, err
	}
	if !draft.IsValid() {
		return draft.Outcome(""), Template{}, nil
	}
	template := NewTemplate(draft.Pod)
	if automatic := mc.Spec.UpdatePolicy == cachev1.UpdateAutomatic; automatic || draft.ReplacesPods(template.Hash) {
		draft = draft.Updated()
		template = NewTemplate(draft.Pod)
	}
	return draft.Outcome(template.Hash), template, nil
}

// objectsOf returns the objects of a plan if no Deployment exists yet.
func objectsOf(p plan.Plan) []Object {
	return Objects(p, Template{configuration: rendered(p.Pod)}, nil)
}

// planned returns the plan of a new Memcached.
func planned(t *testing.T, change func(*cachev1.MemcachedSpec), defaults plan.Defaults) plan.Plan {
	t.Helper()
	bound := plan.Bound{User: users.User{Name: "ann", Password: "battery-staple"}, CA: "PEM\n", Versions: "tls=7,auth=8"}
	current := plan.Current{SecretsUsable: true, Bound: bound}
	current.Bootstrap.Deployment = &appsv1.Deployment{} // It does not wait for Pods.
	p, err := computed(memcachedWith(change), current, defaults)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func nothing(*cachev1.MemcachedSpec) {}

// cases has one file for each case: the Memcached, and the objects that it gets. A release copies the folder to
// testdata/released.
const cases = "testdata/cases"

func TestObjectsMatchTheirGoldenFiles(t *testing.T) {
	tests := map[string]struct {
		change   func(*cachev1.MemcachedSpec)
		operator func(*plan.Defaults)
	}{
		"a size alone":         {change: nothing},
		"no node":              {change: func(s *cachev1.MemcachedSpec) { s.Size = new(int32(0)) }},
		"memory and resources": {change: memoryAndResources},
		"arguments": {change: func(s *cachev1.MemcachedSpec) {
			s.ExtraArgs = []string{"-f", "1.08", "-o", "no_lru_crawler"}
		}},
		"image and pull secrets": {change: func(s *cachev1.MemcachedSpec) {
			s.Image, s.ImagePullSecrets = "localhost:5000/memcached", []cachev1.LocalObjectReference{{Name: "a"}, {Name: "b"}}
		}},
		"architectures":                {change: architectures},
		"placement":                    {change: placement},
		"rollout and disruption":       {change: rolloutAndDisruption},
		"progress deadline":            {change: progressDeadline},
		"metadata of Pods and Service": {change: metadata},
		"clients that are named":       {change: networkPeers},
		"no network policy": {change: func(s *cachev1.MemcachedSpec) {
			s.NetworkPolicy = &cachev1.NetworkPolicy{Mode: cachev1.NetworkPolicyDisabled}
		}},
		"no metrics": {change: func(s *cachev1.MemcachedSpec) {
			s.Metrics = &cachev1.Metrics{Mode: cachev1.MetricsDisabled}
		}},
		"metadata of all objects":    {change: metadataOfAll},
		"two ip families":            {change: dualStack},
		"further fields of the Pods": {change: podFields},
		"no termination delay":       {change: func(s *cachev1.MemcachedSpec) { s.TerminationDelaySeconds = new(int32(0)) }},
		"spread over zones":          {change: func(s *cachev1.MemcachedSpec) { s.Placement = &cachev1.Placement{Zones: "Required"} }},
		"tls 1.3 alone":              {change: modernTLS},
		"cipher suites":              {change: cipherSuites},
		"tls":                        {change: tls},
		"mutual tls and plaintext":   {change: mutualTLS},
		"auth":                       {change: auth},
		"tls and auth without metrics": {change: func(s *cachev1.MemcachedSpec) {
			tls(s)
			auth(s)
			s.Metrics = &cachev1.Metrics{Mode: cachev1.MetricsDisabled}
		}},
		"slots":            {change: withSlots},
		"discovery":        {change: withDiscovery},
		"bootstrap":        {change: withBootstrap},
		"issuer":           {change: withIssuer},
		"binding":          {change: withBinding},
		"assigned user":    {change: nothing, operator: func(d *plan.Defaults) { d.Platform = plan.OpenShift }},
		"any architecture": {change: nothing, operator: func(d *plan.Defaults) { d.Architectures = nil }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			defaults := defaults
			if tc.operator != nil {
				tc.operator(&defaults)
			}
			file := strings.ReplaceAll(strings.ToLower(name), " ", "-") + ".yaml"
			objects := []any{memcachedWith(tc.change)}
			for _, object := range objectsOf(planned(t, tc.change, defaults)) {
				objects = append(objects, object.Configuration)
			}
			compareGolden(t, filepath.Join(cases, file), objects...)
		})
	}
}

// kindOf returns the kind of an object, followed by the object's name if it differs from the name of the Memcached.
func kindOf(object Object) string {
	if name := *object.Metadata.Name; name != "cache" {
		return object.Kind + "-" + name
	}
	return object.Kind
}

// documentEnd is between two objects in a golden file.
const documentEnd = "---\n"

// compareGolden compares objects with the documents of a file.
func compareGolden(t *testing.T, path string, objects ...any) {
	t.Helper()
	var documents []string
	for _, object := range objects {
		document, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, string(document))
	}
	page.Golden(t, path, strings.Join(documents, documentEnd), *update)
}

func TestRenderingIsTheSameEachTime(t *testing.T) {
	p := planned(t, metadata, defaults)
	spell := func() string {
		var all []byte
		for _, object := range objectsOf(p) {
			content, err := yaml.Marshal(object.Configuration)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, content...)
		}
		return string(all)
	}
	first := spell()
	for range 20 {
		if diff := cmp.Diff(first, spell()); diff != "" {
			t.Fatalf("rendered otherwise:\n%s", diff)
		}
	}
}

func TestEveryObjectIsValidByTheSchemaOfItsKind(t *testing.T) {
	converter := applyconfigurations.NewTypeConverter(clientgoscheme.Scheme)
	for _, object := range objectsOf(planned(t, placement, defaults)) {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object.Configuration)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := converter.ObjectToTyped(&unstructured.Unstructured{Object: content}); err != nil {
			t.Errorf("%s: %v", object.Kind, err)
		}
		if object.Metadata.UID != nil || len(object.Metadata.OwnerReferences) != 1 {
			t.Errorf("%s: metadata %+v", object.Kind, object.Metadata)
		}
	}
}

func BenchmarkPlanAndRender(b *testing.B) {
	mc := memcachedWith(nothing)
	b.ReportAllocs()
	for b.Loop() {
		outcome, template, err := decided(mc, plan.Current{SecretsUsable: true}, defaults)
		p, planned := plan.Of(outcome)
		if err != nil || !planned {
			b.Fatal(outcome, err)
		}
		Objects(p, template, nil)
	}
}

// TestTwoCachesShareNothing: while one cache is rendered, the API server's answer may be written into the rendered
// objects of another.
func TestTwoCachesShareNothing(t *testing.T) {
	all := func(s *cachev1.MemcachedSpec) {
		tls(s)
		auth(s)
	}
	before, after := encoded(t, objectsOf(planned(t, all, defaults))), objectsOf(planned(t, all, defaults))
	for i, object := range after {
		var fields map[string]any
		if err := json.Unmarshal([]byte(before[i]), &fields); err != nil {
			t.Fatal(err)
		}
		answer, err := json.Marshal(otherQuantities(fields))
		if err == nil {
			err = json.Unmarshal(answer, object.Configuration)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(before, encoded(t, objectsOf(planned(t, all, defaults)))); diff != "" {
		t.Errorf("what is rendered changed by the answer to another cache (-before +after):\n%s", diff)
	}
}

// otherQuantities changes the quantities, which are stored in maps that caches could share.
func otherQuantities(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, entry := range value {
			if key == "limits" || key == "requests" {
				entry = map[string]any{"cpu": "77", "memory": "77Gi"}
			}
			value[key] = otherQuantities(entry)
		}
	case []any:
		for i := range value {
			value[i] = otherQuantities(value[i])
		}
	}
	return value
}
