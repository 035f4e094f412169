package verify

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/health"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

// settings: none is an example once the user has written others; before that, Argo CD does not follow the repository.
func (r *run) settings() error {
	settings, err := r.Files.Settings()
	if err != nil {
		return err
	}
	add := func(rule string, isError bool, text, fix string) {
		level := map[bool]string{true: Error, false: Warning}[isError || r.Strict]
		r.add(Problem{Fault: tree.Fault{File: tree.SettingsFile, Text: text, Fix: fix}, Level: level, Rule: rule})
	}
	if examples, own := settings.Examples(); len(examples) > 0 {
		text := "has still examples: " + strings.Join(examples, ", ")
		if len(own) > 0 {
			text += ", and values of your own: " + strings.Join(own, ", ")
		}
		// A fork or a release names its images in the tree. Who lets Argo CD follow it names the repository first.
		add("example", slices.Contains(own, "repoURL"), text, "run make gitops-init REPO=... REVISION=... REGISTRY=...")
	}
	if text, isError := catalogFault(settings["catalogImage"]); text != "" {
		add("image", isError, text, "name the digest that make catalog-push prints, by make gitops-init CATALOG_IMAGE=...")
	}
	return nil
}

// releases: each is pinned and listed.
func (r *run) releases() {
	const rule, fetch = "release", "run go -C scripts/gitops test ./tree -run Listed -update"
	used := map[string]bool{}
	for _, remote := range r.builder.Remotes {
		used[remote.URL] = true
		if text := tree.Unpinned(remote.URL); text != "" {
			r.fail(rule, remote.File, "name a version or a commit", "%s is not pinned: %s", remote.URL, text)
		}
		if remote.Err != nil {
			r.fail(rule, remote.File, fetch, "%s: %v", remote.URL, remote.Err)
		}
	}
	for _, address := range slices.Sorted(maps.Keys(r.builder.Catalog.Releases)) {
		if !used[address] {
			r.fail(rule, tree.CatalogFile, fetch, "lists %s, which no kustomization names", address)
		}
	}
}

const (
	tracking   = "application.resourceTrackingMethod"
	byTracking = "annotation: by label, Argo CD would prune the copies that OLM makes of an object"
	healthKeys = "resource.customizations.health."
	luaFolder  = tree.ArgoCDFolder + "/health"
)

// verifyArgoCD: Argo CD can read its settings, both kinds of Argo CD have the same, and tracking is by annotation.
func (r *run) verifyArgoCD(ctx context.Context) {
	s := subject{app: &tree.App{Application: &v1alpha1.Application{}}, add: r.reporter("argocd")}
	fail := func(file, fix, format string, args ...any) { s.fail(file, "", fix, format, args...) }
	var err error
	if r.argoCD, err = r.builder.ArgoCD(ctx); err != nil {
		fail(tree.Existing, "correct it", "%s", err.Error())
		return
	}
	if r.argoCD.Tracking != "annotation" {
		fail(tree.Existing, byTracking, "%s is %q", tracking, r.argoCD.Tracking)
	}
	for _, file := range r.Files.Kustomizations(tree.ArgoCDFolder) {
		if !strings.Contains(string(r.Files[file]), "kind: Kustomization") {
			continue
		}
		dir := path.Dir(file)
		objects, err := r.builder.Render(dir)
		if err != nil {
			fail(dir, "try kubectl kustomize "+dir, "kustomize can't build it: %v", err)
		}
		for _, o := range objects {
			if o.GetKind() == "ArgoCD" {
				r.instance(o, fail)
			}
			leftover(s, o)
		}
	}
	r.health()
}

// instance: the resource of an Argo CD by argocd-operator has the settings of argocd-cm.
func (r *run) instance(o tree.Object, fail func(file, fix, format string, args ...any)) {
	if method := o.Text("spec", "resourceTrackingMethod"); method != "annotation" {
		fail(o.File, byTracking, "spec.resourceTrackingMethod is %q", method)
	}
	const check = "the health check of "
	has := map[string]string{}
	extra, _, _ := unstructured.NestedStringMap(o.Object, "spec", "extraConfig")
	maps.Copy(has, extra)
	list, _, _ := unstructured.NestedSlice(o.Object, "spec", "resourceHealthChecks")
	for _, item := range list {
		fields, _ := item.(map[string]any)
		has[fmt.Sprintf("%s%v/%v", check, fields["group"], fields["kind"])], _ = fields["check"].(string)
	}
	wants := maps.Clone(r.argoCD.Data)
	maps.DeleteFunc(wants, func(key, _ string) bool { return key == tracking || strings.HasPrefix(key, healthKeys) })
	for kind, lua := range r.argoCD.Checks {
		wants[check+kind] = lua
	}
	for _, name := range sets.List(sets.KeySet(has).Union(sets.KeySet(wants))) {
		if has[name] != wants[name] {
			fail(o.File, "give both the same, health checks from "+luaFolder,
				"%s differs from that in argocd-cm: it is %.60q, not %.60q", name, has[name], wants[name])
		}
	}
}

// fixture is an object in some state, and the health to expect.
type fixture struct {
	// State is one of states, or another name.
	State string `json:"state"`
	// The expected health; a part of the message is enough.
	health.HealthStatus
}

// states are those that each health check is tried in. ageless are kinds whose status has no generation, so that a
// stale status looks like others.
var (
	states  = []string{"healthy", "progressing", "degraded", "no status", stale}
	ageless = []string{tree.OLM + "/CatalogSource", tree.OLM + "/ClusterServiceVersion", tree.OLM + "/Subscription"}
)

const stale = "stale generation"

// health: each check returns the expected health for each fixture, in Argo CD's own engine.
func (r *run) health() {
	files, err := fs.Glob(r.Fixtures, "*/*.yaml")
	if err != nil {
		r.failHealth(".", "%v", err)
	}
	tried := map[string][]string{} // states by kind
	for _, file := range files {
		kind, state := r.try(file)
		tried[kind] = append(tried[kind], state)
	}
	r.report.HealthChecks, r.report.Fixtures = len(r.argoCD.Checks), len(files)
	for _, kind := range slices.Sorted(maps.Keys(r.argoCD.Checks)) {
		for _, state := range states {
			if !slices.Contains(tried[kind], state) && (state != stale || !slices.Contains(ageless, kind)) {
				r.failHealth("", "no fixture tries the health check of %s in the state %q: add one", kind, state)
			}
		}
	}
}

func (r *run) failHealth(file, format string, args ...any) {
	r.fail("health", path.Join("scripts/gitops/testdata/health", file), "correct the fixture, or the check in "+luaFolder,
		format, args...)
}

// try judges the object of a fixture.
func (r *run) try(file string) (kind, state string) {
	fixture, o, err := r.read(file)
	if err != nil {
		r.failHealth(file, "is no fixture, which is what to expect, then ---, then an object: %v", err)
		return "", ""
	}
	kind = o.GroupVersionKind().Group + "/" + o.GetKind()
	if r.argoCD.Checks[kind] == "" || path.Dir(file) != strings.ToLower(o.GetKind()) {
		r.failHealth(file, "holds %s: its folder is for another kind, or that kind has no health check", kind)
		return "", ""
	}
	for _, text := range r.builder.Schemas.Faults(o) {
		r.failHealth(file, "the API server would refuse it: %s", text)
	}
	if o.GroupVersionKind() == tree.ApplicationKind {
		if _, err := tree.Decode[v1alpha1.Application](o); err != nil {
			r.failHealth(file, "Argo CD does not accept it: %v", err)
		}
	}
	switch is, err := r.argoCD.Health(o); {
	case err != nil:
		r.failHealth(file, "the health check of %s fails: %v", kind, err)
	case is.Status != fixture.Status || !strings.Contains(is.Message, fixture.Message):
		r.failHealth(file, "%s (%s) is %s %q, not %s %q",
			kind, fixture.State, is.Status, is.Message, fixture.Status, fixture.Message)
	}
	return kind, fixture.State
}

func (r *run) read(file string) (f fixture, o *unstructured.Unstructured, err error) {
	content, err := fs.ReadFile(r.Fixtures, file)
	if err != nil {
		return f, nil, err
	}
	expected, object, found := bytes.Cut(content, []byte("\n---\n"))
	if !found {
		return f, nil, fmt.Errorf("it is one document")
	}
	if err := yaml.UnmarshalStrict(expected, &f); err != nil {
		return f, nil, err
	}
	o = &unstructured.Unstructured{}
	return f, o, yaml.Unmarshal(object, &o.Object)
}
