package verify

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/gitops/argo"
	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

// fixture is an object in some state, and what is to be said of it.
type fixture struct {
	file string
	// State is one of states, or a special one.
	State string `json:"state"`
	// Status and Message are the expected health; of the message a part is enough.
	Status  string `json:"status"`
	Message string `json:"message"`

	object *unstructured.Unstructured
}

// States that each health check is tried in.
const (
	healthy     = "healthy"
	progressing = "progressing"
	degraded    = "degraded"
	noStatus    = "no status"
	stale       = "stale generation" // the status tells of an older spec
)

// ageless are kinds whose status does not tell of which spec it is: nobody can see that it is stale.
var ageless = []string{
	tree.OLM + "/CatalogSource", tree.OLM + "/ClusterServiceVersion", tree.OLM + "/Subscription",
}

// health: each check of the tree says of each fixture what it should, in Argo CD's own engine.
func (r *run) health() {
	tried := map[string]bool{}
	for _, kind := range slices.Sorted(maps.Keys(r.argo.Checks)) {
		_, name, _ := strings.Cut(kind, "/")
		folder := strings.ToLower(name)
		tried[folder] = true
		r.checked.HealthChecks++
		fixtures, err := readFixtures(r.options.Fixtures, folder)
		if err != nil {
			r.addHealth(folder, err.Error(), "a fixture is what to expect, then ---, then the object")
			continue
		}
		r.states(kind, folder, fixtures)
		for _, f := range fixtures {
			r.try(kind, f)
		}
	}
	folders, err := fs.ReadDir(r.options.Fixtures, ".")
	if err != nil {
		r.addHealth(".", err.Error(), "restore it from Git")
	}
	for _, folder := range folders {
		if !tried[folder.Name()] {
			r.addHealth(folder.Name(), "there is no health check for these fixtures", "add the check to "+tree.Existing)
		}
	}
}

const fixturesFolder = "scripts/gitops/testdata/health"

func (r *run) addHealth(file, text, remedy string) {
	r.add(Problem{Level: Error, Rule: "health", File: path.Join(fixturesFolder, file), Text: text, Remedy: remedy})
}

// states: there is a fixture for each.
func (r *run) states(kind, folder string, fixtures []fixture) {
	wanted := []string{healthy, progressing, degraded, noStatus}
	if !slices.Contains(ageless, kind) {
		wanted = append(wanted, stale)
	}
	for _, state := range wanted {
		if !slices.ContainsFunc(fixtures, func(f fixture) bool { return f.State == state }) {
			r.addHealth(folder, fmt.Sprintf("no fixture tries the health check of %s with the state %q", kind, state), "add one")
		}
	}
}

func (r *run) try(kind string, f fixture) {
	r.checked.Fixtures++
	if got := groupKind(f.object); got != kind {
		r.addHealth(f.file, fmt.Sprintf("holds %s, and is there for %s", got, kind), "move it to the folder of its kind")
		return
	}
	for _, text := range r.schemas.Faults(f.object) {
		r.addHealth(f.file, "can't be in a cluster: "+text, "correct it")
	}
	if f.object.GroupVersionKind() == argo.ApplicationKind {
		if _, err := argo.Decode[v1alpha1.Application](f.object); err != nil {
			r.addHealth(f.file, "is no Application that Argo CD knows: "+err.Error(), "correct it")
		}
	}
	status, message, err := r.argo.Health(f.object)
	if err != nil {
		r.addHealth(f.file, fmt.Sprintf("the health check of %s fails: %v", kind, err), "correct the check in "+luaFolder)
		return
	}
	if status != f.Status || !strings.Contains(message, f.Message) {
		text := fmt.Sprintf("%s (%s) is %s %q, expected is %s %q", kind, f.State, status, message, f.Status, f.Message)
		r.addHealth(f.file, text, "correct the check in "+luaFolder)
	}
}

const luaFolder = argoCDFolder + "/health"

func groupKind(u *unstructured.Unstructured) string {
	kind := u.GroupVersionKind()
	return kind.Group + "/" + kind.Kind
}

// readFixtures reads the fixtures of a kind.
func readFixtures(from fs.FS, folder string) ([]fixture, error) {
	files, err := fs.Glob(from, folder+"/*.yaml")
	if err != nil {
		return nil, err
	}
	var fixtures []fixture
	for _, file := range files {
		content, err := fs.ReadFile(from, file)
		if err != nil {
			return nil, err
		}
		expected, object, found := bytes.Cut(content, []byte("\n---\n"))
		f := fixture{file: file, object: &unstructured.Unstructured{}}
		if !found {
			return nil, fmt.Errorf("%s is one document", file)
		}
		if err := yaml.UnmarshalStrict(expected, &f); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if err := yaml.Unmarshal(object, &f.object.Object); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		fixtures = append(fixtures, f)
	}
	return fixtures, nil
}
