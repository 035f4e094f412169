package render

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/yaml"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// others are defaults that differ from those of the golden files in all that may differ.
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

// records are what may become of the annotation on the Deployment.
var records = map[string]func(*appsv1.Deployment){
	"as it was written": func(*appsv1.Deployment) {},
	"gone":              func(d *appsv1.Deployment) { d.Annotations, d.Labels = nil, nil },
	"changed by hand":   func(d *appsv1.Deployment) { d.Annotations[names.AnnotationTemplateInputs] = `{"revision":1}` },
}

func TestAReleasedTemplateIsRenderedAsItWasReleased(t *testing.T) {
	versions, err := filepath.Glob("testdata/released/*/deployment")
	if err != nil {
		t.Fatal(err)
	}
	// What would be released today is held to the same: the test is true before there is a release.
	for _, deployments := range append(versions, "testdata/deployment") {
		files, err := filepath.Glob(deployments + "/*.yaml")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s holds no Deployment: %v", deployments, err)
		}
		for _, file := range files {
			for record, damage := range records {
				if diff := rerendered(t, filepath.Dir(deployments), filepath.Base(file), damage); diff != "" {
					t.Errorf("%s, with the record %s, replaces the nodes (-released +today):\n%s", file, record, diff)
				}
			}
		}
	}
}

func TestAnotherTemplateOfAReleasedRevisionIsNoticed(t *testing.T) {
	replaceTemplate(t, 1, slower)
	if diff := rerendered(t, "testdata", "placement.yaml", records["as it was written"]); diff == "" {
		t.Error("the template of revision 1 is another one, and that is not noticed")
	}
}

// rerendered takes a Deployment of another operator over, and tells what becomes of its Pod template.
func rerendered(t *testing.T, dir, file string, damage func(*appsv1.Deployment)) string {
	t.Helper()
	mc, live := &cachev1.Memcached{}, &appsv1.Deployment{}
	readGolden(t, filepath.Join(dir, "memcached", file), mc)
	readGolden(t, filepath.Join(dir, "deployment", file), live)
	damage(live)
	p, err := plan.Compute(mc, live, others(live))
	if err != nil {
		t.Fatal(err)
	}
	return cmp.Diff(live.Spec.Template, renderedTemplate(t, p))
}

func readGolden(t *testing.T, path string, into any) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err == nil {
		err = yaml.UnmarshalStrict(content, into)
	}
	if err != nil {
		t.Fatal(path, err)
	}
}

// renderedTemplate is a Pod template as the API server would read it.
func renderedTemplate(t *testing.T, p plan.Plan) corev1.PodTemplateSpec {
	t.Helper()
	content, err := yaml.Marshal(template(p))
	if err != nil {
		t.Fatal(err)
	}
	read := corev1.PodTemplateSpec{}
	if err := yaml.Unmarshal(content, &read); err != nil {
		t.Fatal(err)
	}
	return read
}

// slower is a template that differs.
func slower(p plan.Plan) *corev1ac.PodTemplateSpecApplyConfiguration {
	other := podTemplate(p)
	other.Spec.WithTerminationGracePeriodSeconds(*other.Spec.TerminationGracePeriodSeconds + 1)
	return other
}

// replaceTemplate puts a template in the place of one of that revision, or beside the others, for the test.
func replaceTemplate(
	t *testing.T, revision int, template func(plan.Plan) *corev1ac.PodTemplateSpecApplyConfiguration,
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

func TestANewRevisionIsForNewCachesAndThoseWhoLetItIn(t *testing.T) {
	old := &appsv1.Deployment{}
	readGolden(t, "testdata/deployment/a-size-alone.yaml", old)
	replaceTemplate(t, 2, slower)
	newest := defaults
	newest.Revisions = Revisions()

	grace := func(mc *cachev1.Memcached, live *appsv1.Deployment) int64 {
		t.Helper()
		p, err := plan.Compute(mc, live, newest)
		if err != nil {
			t.Fatal(err)
		}
		return *renderedTemplate(t, p).Spec.TerminationGracePeriodSeconds
	}
	mc := memcachedWith(nothing)
	changed := memcachedWith(func(s *cachev1.MemcachedSpec) { s.Size, s.Threads = new(int32(3)), new(int32(2)) })
	if got := grace(mc, nil); got != 46 {
		t.Error("a new cache does not get the newest template")
	}
	if got := grace(changed, old); got != 46 {
		t.Error("a change that replaces the nodes does not let the newest template in")
	}
	for record, damage := range records {
		damaged := old.DeepCopy()
		damage(damaged)
		if got := grace(mc, damaged); got != 45 {
			t.Errorf("with the record %s, the cache does not keep its template", record)
		}
	}
}

// TestWhatIsMissingOnAnObjectOfTheNewRevisionIsNotTakenForTheOldOne: the Pods themselves tell their revision.
func TestWhatIsMissingOnAnObjectOfTheNewRevisionIsNotTakenForTheOldOne(t *testing.T) {
	replaceTemplate(t, 2, slower)
	newest := defaults
	newest.Revisions = Revisions()
	made := planned(t, nothing, newest)
	live := &appsv1.Deployment{}
	live.Spec.Template = renderedTemplate(t, made)
	p, err := plan.Compute(memcachedWith(nothing), live, others(live))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(made.Record.Inputs, p.Record.Inputs); diff != "" {
		t.Errorf("what the Pods are made of (-before +after):\n%s", diff)
	}
}

func TestADeploymentOfSomebodyElsesMakingTellsNothing(t *testing.T) {
	theirs := &appsv1.Deployment{}
	theirs.Labels = names.Selector("cache") // As the Operator SDK tutorial's operator has it.
	theirs.Spec.Template.Spec.Containers = []corev1.Container{{Name: names.Container, Image: "memcached:1.4.36"}}
	p, err := plan.Compute(memcachedWith(nothing), theirs, defaults)
	if err != nil {
		t.Fatal(err)
	}
	if p.Image != defaults.Image || len(p.Waiting) > 0 {
		t.Errorf("image %s, and %v waits", p.Image, p.Waiting)
	}
}
