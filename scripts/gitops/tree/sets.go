package tree

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/sync/syncwaves"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// Cluster is a cluster as its Secret describes it to Argo CD.
type Cluster struct {
	Name, Server string
	Labels       map[string]string
}

// local is the cluster of Argo CD itself. It has no Secret.
var local = Cluster{Name: "in-cluster", Server: v1alpha1.KubernetesInternalAPIServerAddr}

// generator makes the parameters of an ApplicationSet as the applicationset controller does: its own packages bring the
// clients of all forges.
type generator struct {
	files    Files
	clusters []Cluster
	options  []string
}

// generate are the Applications that an ApplicationSet makes from the files and for the clusters.
func (f Files) generate(set Object, clusters []Cluster) ([]Object, error) {
	spec, _, _ := unstructured.NestedMap(set.Object, "spec")
	if spec["goTemplate"] != true || spec["templatePatch"] != nil {
		return nil, errors.New("only spec.goTemplate: true, without a templatePatch, can be verified")
	}
	g := generator{files: f, clusters: clusters}
	g.options, _, _ = unstructured.NestedStringSlice(spec, "goTemplateOptions")
	generators, _, _ := unstructured.NestedSlice(spec, "generators")
	var made []Object
	for _, item := range generators {
		all, err := g.params(item)
		if err != nil {
			return nil, err
		}
		for _, params := range all {
			content, err := g.rendered(spec["template"], params)
			if err != nil {
				return nil, err
			}
			u := &unstructured.Unstructured{Object: content.(map[string]any)}
			u.SetGroupVersionKind(ApplicationKind)
			u.SetNamespace(set.GetNamespace())
			made = append(made, Object{Unstructured: u, File: set.File, Namespace: u.GetNamespace(), Wave: syncwaves.Wave(u)})
		}
	}
	return made, nil
}

// params are those of a generator, one for each Application.
func (g generator) params(item any) (all []map[string]any, err error) {
	fields, _ := item.(map[string]any)
	for kind, value := range fields {
		spec, _ := value.(map[string]any)
		switch kind {
		case "list":
			elements, _, _ := unstructured.NestedSlice(spec, "elements")
			for _, element := range elements {
				params, _ := element.(map[string]any)
				all = append(all, params)
			}
		case "clusters":
			all, err = g.ofClusters(spec)
		case "git":
			all, err = g.ofGit(spec)
		case "matrix":
			all, err = g.ofMatrix(spec)
		default:
			err = fmt.Errorf("the generator %s can't be verified: use list, clusters, git or matrix", kind)
		}
	}
	return all, err
}

func (g generator) ofClusters(spec map[string]any) (all []map[string]any, err error) {
	var selector metav1.LabelSelector
	if content, ok := spec["selector"].(map[string]any); ok {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &selector); err != nil {
			return nil, err
		}
	}
	matches, err := metav1.LabelSelectorAsSelector(&selector)
	if err != nil {
		return nil, err
	}
	for _, c := range append([]Cluster{local}, g.clusters...) {
		if !matches.Matches(labels.Set(c.Labels)) || c.Name == local.Name && !matches.Empty() {
			continue
		}
		params := map[string]any{"name": c.Name, "nameNormalized": normalize(c.Name), "server": c.Server, "project": ""}
		if c.Labels != nil {
			params["metadata"] = map[string]any{"labels": c.Labels}
		}
		if params["values"], err = g.rendered(spec["values"], params); err != nil {
			return nil, err
		}
		all = append(all, params)
	}
	return all, nil
}

func (g generator) ofGit(spec map[string]any) (all []map[string]any, err error) {
	files, _, _ := unstructured.NestedSlice(spec, "files")
	directories, _, _ := unstructured.NestedSlice(spec, "directories")
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(g.files)) {
		for dir := path.Dir(name); dir != "." && !seen[dir]; dir = path.Dir(dir) {
			if seen[dir] = true; matches(dir, directories) {
				all = append(all, map[string]any{"path": pathParams(dir)})
			}
		}
		if !matches(name, files) {
			continue
		}
		list, err := g.ofFile(name)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// matches reports whether one of the patterns selects a path, and none excludes it.
func matches(name string, patterns []any) (found bool) {
	for _, item := range patterns {
		fields, _ := item.(map[string]any)
		pattern, _ := fields["path"].(string)
		matched, _ := path.Match(pattern, name)
		if matched && fields["exclude"] == true {
			return false
		}
		found = found || matched
	}
	return found
}

// ofFile are the parameters in a file: one set, or a list of them.
func (g generator) ofFile(name string) (list []map[string]any, err error) {
	if yaml.Unmarshal(g.files[name], &list) != nil {
		list = []map[string]any{{}}
		if err := yaml.Unmarshal(g.files[name], &list[0]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, params := range list {
		params["path"] = pathParams(path.Dir(name))
	}
	return list, nil
}

func pathParams(dir string) map[string]any {
	return map[string]any{
		"path": dir, "basename": path.Base(dir), "basenameNormalized": normalize(path.Base(dir)),
		"segments": strings.Split(dir, "/"),
	}
}

// ofMatrix are all pairs of two generators. The second may name parameters of the first.
func (g generator) ofMatrix(spec map[string]any) (all []map[string]any, err error) {
	pair, _, _ := unstructured.NestedSlice(spec, "generators")
	if len(pair) != 2 {
		return nil, errors.New("a matrix has two generators")
	}
	first, err := g.params(pair[0])
	if err != nil {
		return nil, err
	}
	for _, a := range first {
		item, err := g.rendered(pair[1], a)
		if err != nil {
			return nil, err
		}
		second, err := g.params(item)
		if err != nil {
			return nil, err
		}
		for _, b := range second {
			both := maps.Clone(a)
			maps.Copy(both, b)
			all = append(all, both)
		}
	}
	return all, nil
}

// rendered is a value with all templates in it executed.
func (g generator) rendered(value any, params map[string]any) (result any, err error) {
	switch value := value.(type) {
	case string:
		var text strings.Builder
		t, err := template.New("").Option(g.options...).Funcs(functions()).Parse(value)
		if err == nil {
			err = t.Execute(&text, params)
		}
		return text.String(), err
	case []any:
		list := make([]any, len(value))
		for i := range value {
			if list[i], err = g.rendered(value[i], params); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		return g.renderedFields(value, params)
	}
	return value, nil
}

// renderedFields are fields with all templates in them executed, also those in their keys.
func (g generator) renderedFields(value, params map[string]any) (any, error) {
	fields := map[string]any{}
	for key, item := range value {
		name, err := g.rendered(key, params)
		if err != nil {
			return nil, err
		}
		if fields[name.(string)], err = g.rendered(item, params); err != nil {
			return nil, err
		}
	}
	return fields, nil
}

func functions() template.FuncMap {
	all := sprig.GenericFuncMap()
	for _, name := range []string{"env", "expandenv", "getHostByName"} {
		delete(all, name)
	}
	all["normalize"] = normalize
	return all
}

var invalid = regexp.MustCompile(`[^-a-z0-9.]+`)

// normalize makes a name of Kubernetes of a text.
func normalize(text string) string {
	text = invalid.ReplaceAllString(strings.ToLower(text), "-")
	return strings.Trim(text[:min(len(text), 253)], "-.")
}
