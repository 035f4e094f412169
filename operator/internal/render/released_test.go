package render

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/yaml"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// others returns defaults that differ from the defaults of the golden files in every field that may differ.
func others(live *appsv1.Deployment) plan.Defaults {
	others := plan.Defaults{
		Revisions: Revisions(), Image: "registry.example.com/memcached:next", Architectures: []string{"ppc64le"},
		Platform: plan.OpenShift, AgentImage: "registry.example.com/memcached-agent:next",
	}
	if live.Spec.Template.Spec.SecurityContext.RunAsUser == nil {
		others.Platform = plan.Kubernetes
	}
	return others
}

// records has the changes that may happen to the two records of the template inputs, on the Deployment and in the
// status, before an operator takes the Deployment over.
var records = map[string]func(*cachev1.Memcached, *appsv1.Deployment){
	"in both places": func(mc *cachev1.Memcached, live *appsv1.Deployment) {
		mc.Status.TemplateInputs = live.Annotations[names.AnnotationTemplateInputs]
	},
	"on the Deployment alone, by the operator": func(_ *cachev1.Memcached, live *appsv1.Deployment) {
		live.ManagedFields = []metav1.ManagedFieldsEntry{{
			Manager: names.FieldOwner, Operation: metav1.ManagedFieldsOperationApply,
			FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:` + names.AnnotationTemplateInputs + `":{}}}}`),
		}}
	},
	"in the status alone": func(mc *cachev1.Memcached, live *appsv1.Deployment) {
		mc.Status.TemplateInputs = live.Annotations[names.AnnotationTemplateInputs]
		live.Annotations, live.Labels = nil, nil
	},
	"nowhere, though the operator wrote the template": func(_ *cachev1.Memcached, live *appsv1.Deployment) {
		live.Annotations = nil
		live.ManagedFields = []metav1.ManagedFieldsEntry{{
			Manager: names.FieldOwner, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: fieldsOf(live),
		}}
	},
	"changed on the Deployment by another client": func(mc *cachev1.Memcached, live *appsv1.Deployment) {
		mc.Status.TemplateInputs = live.Annotations[names.AnnotationTemplateInputs]
		live.Annotations[names.AnnotationTemplateInputs] = theirRecord
	},
}

// fieldsOf returns those fields of a Deployment from which template inputs are recovered.
func fieldsOf(live *appsv1.Deployment) *metav1.FieldsV1 {
	user := ""
	if live.Spec.Template.Spec.SecurityContext.RunAsUser != nil {
		user = `"f:runAsUser":{},`
	}
	gates := ""
	if len(live.Spec.Template.Spec.ReadinessGates) > 0 {
		gates = `"f:readinessGates":{},`
	}
	return metav1.NewFieldsV1(`{"f:spec":{"f:template":{
		"f:metadata":{"f:annotations":{"f:` + names.AnnotationTemplateRevision + `":{}}},
		"f:spec":{
			"f:affinity":{"f:nodeAffinity":{"f:requiredDuringSchedulingIgnoredDuringExecution":{}}},
			"f:containers":{"k:{\"name\":\"memcached\"}":{"f:image":{}}},
			"f:initContainers":{"k:{\"name\":\"agent\"}":{"f:image":{}}},
			` + gates + `
			"f:securityContext":{` + user + `"f:runAsNonRoot":{}}
		}}}}`)
}

// theirRecord is another client's record that looks like the operator's own.
var theirRecord = plan.Record{Inputs: plan.Inputs{
	Revision: 1, Image: "registry.example.com/other:1", Agent: "registry.example.com/other:1", Platform: plan.OpenShift,
}}.Encode()

func TestAReleasedTemplateIsRenderedAsItWasReleased(t *testing.T) {
	released, err := filepath.Glob("testdata/released/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	// The current template is compared, too, so that the test works before the first release.
	current, err := filepath.Glob(cases + "/*.yaml")
	if err != nil || len(current) == 0 {
		t.Fatalf("%s has no file: %v", cases, err)
	}
	for _, file := range append(released, current...) {
		for record, damage := range records {
			if diff := rerendered(t, file, damage); diff != "" {
				t.Errorf("%s, with the record %s, replaces the Pods (-released +today):\n%s", file, record, diff)
			}
		}
	}
}

func TestAChangedTemplateOfAReleasedRevisionIsDetected(t *testing.T) {
	replaceTemplate(t, newest(), slower)
	if diff := rerendered(t, cases+"/placement.yaml", records["in both places"]); diff == "" {
		t.Error("a changed template of a revision is not detected")
	}
}

// rerendered takes over a Deployment of another operator, and returns the resulting Pod template.
func rerendered(t *testing.T, file string, damage func(*cachev1.Memcached, *appsv1.Deployment)) string {
	t.Helper()
	mc, live := &cachev1.Memcached{}, &appsv1.Deployment{}
	readGolden(t, file, "Memcached", mc)
	readDeployment(t, file, live)
	damage(mc, live)
	p, err := computed(mc, currently(live), others(live))
	if err != nil {
		t.Fatal(err)
	}
	return cmp.Diff(live.Spec.Template, renderedTemplate(t, p, live))
}

// currently returns the observed state of a cache with this Deployment.
func currently(live *appsv1.Deployment) plan.Current {
	return plan.Current{Deployment: live, SecretsUsable: true}
}

// readDeployment reads a Deployment. In a fork, the record has other names, so its checksum is wrong and is computed
// again.
func readDeployment(t *testing.T, path string, into *appsv1.Deployment) {
	t.Helper()
	readGolden(t, path, "Deployment", into)
	mc, text := &cachev1.Memcached{}, into.Annotations[names.AnnotationTemplateInputs]
	if mc.Status.TemplateInputs = text; plan.IsRecorded(mc, into) {
		return
	}
	record := plan.Record{}
	if err := json.Unmarshal([]byte(text), &record); err != nil {
		t.Fatal(path, err)
	}
	into.Annotations[names.AnnotationTemplateInputs] = record.Encode()
}

// readGolden reads the object of a kind from a golden file.
func readGolden(t *testing.T, path, kind string, into any) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(content), documentEnd) {
		if strings.Contains(document, "\nkind: "+kind+"\n") {
			if err := yaml.UnmarshalStrict([]byte(document), into); err != nil {
				t.Fatal(path, err)
			}
			return
		}
	}
	t.Fatalf("%s has no %s", path, kind)
}

// renderedTemplate returns the Pod template of a plan as the API server would read it.
func renderedTemplate(t *testing.T, p plan.Plan, deployed *appsv1.Deployment) corev1.PodTemplateSpec {
	t.Helper()
	content, err := yaml.Marshal(Template{configuration: rendered(p.Pod)}.of(p, deployed))
	if err != nil {
		t.Fatal(err)
	}
	read := corev1.PodTemplateSpec{}
	if err := yaml.Unmarshal(content, &read); err != nil {
		t.Fatal(err)
	}
	return read
}

// newest returns the newest revision of the Pod template.
func newest() int {
	return slices.Max(Revisions())
}

// slower renders a template that differs from the released one.
func slower(p plan.Pod) *corev1ac.PodTemplateSpecApplyConfiguration {
	other := podTemplate(p)
	other.Spec.WithTerminationGracePeriodSeconds(*other.Spec.TerminationGracePeriodSeconds + 1)
	return other
}

// replaceTemplate replaces the template of a revision, or adds one, for the test.
func replaceTemplate(
	t *testing.T, revision int, template func(plan.Pod) *corev1ac.PodTemplateSpecApplyConfiguration,
) {
	t.Helper()
	before, there := templates[revision]
	templates[revision] = template
	t.Cleanup(func() {
		if templates[revision] = before; !there {
			delete(templates, revision)
		}
	})
}

func TestANewRevisionIsForNewCachesAndRequestedUpdates(t *testing.T) {
	old := &appsv1.Deployment{}
	readDeployment(t, cases+"/a-size-alone.yaml", old)
	replaceTemplate(t, newest()+1, slower)
	next := defaults
	next.Revisions = Revisions()

	grace := func(mc *cachev1.Memcached, current plan.Current) int64 {
		t.Helper()
		p, err := computed(mc, current, next)
		if err != nil {
			t.Fatal(err)
		}
		return *renderedTemplate(t, p, current.Deployment).Spec.TerminationGracePeriodSeconds
	}
	mc := memcachedWith(nothing)
	changed := memcachedWith(func(s *cachev1.MemcachedSpec) { s.Size, s.Threads = new(int32(3)), new(int32(2)) })
	changed.Status.TemplateInputs = old.Annotations[names.AnnotationTemplateInputs]
	if got := grace(mc, plan.Current{SecretsUsable: true}); got != 46 {
		t.Error("a new cache does not get the newest template")
	}
	if got := grace(changed, currently(old)); got != 46 {
		t.Error("a change that replaces the Pods does not let the newest template in")
	}
	for record, damage := range records {
		damaged, mc := old.DeepCopy(), mc.DeepCopy()
		damage(mc, damaged)
		if got := grace(mc, currently(damaged)); got != 45 {
			t.Errorf("with the record %s, the cache does not keep its template", record)
		}
	}
}

// TestNothingIsLearnedFromWhatOthersWrote: the operator makes Pods neither from a record that another client wrote nor
// from an image in the Pod template.
func TestNothingIsLearnedFromWhatOthersWrote(t *testing.T) {
	for name, annotations := range map[string]map[string]string{
		"another client's record": {names.AnnotationTemplateInputs: theirRecord},
		"no record":               nil,
	} {
		other := &appsv1.Deployment{}
		other.Annotations, other.Labels = annotations, names.Selector("cache")
		other.Spec.Template.Annotations = map[string]string{names.AnnotationTemplateRevision: "1"}
		other.Spec.Template.Spec.Containers = []corev1.Container{{Name: names.Container, Image: "registry.example.com/other:1"}}
		p, err := computed(memcachedWith(nothing), currently(other), defaults)
		if err != nil {
			t.Fatal(err)
		}
		if p.Image != defaults.Image || len(p.Pending) > 0 {
			t.Errorf("%s: image %s, and %v waits", name, p.Image, p.Pending)
		}
	}
}
