package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/example-inc/memcached-operator/scripts/gitops/argo"
	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

// projects: each is valid, is used, and names all that it permits.
func projects(s subject) {
	used := map[string]bool{}
	for _, app := range s.All() {
		used[app.Spec.Project] = true
		if s.Projects[app.Spec.Project] == nil {
			s.fail(app.Manifest.File, app.Name, fmt.Sprintf("spec.project is %q, which %s does not hold", app.Spec.Project,
				s.Bootstrap), "name one of "+strings.Join(slices.Sorted(maps.Keys(s.Projects)), ", "))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Projects)) {
		file := s.fileOf(name)
		for _, text := range faults(s.Projects[name]) {
			s.fail(file, "", fmt.Sprintf("AppProject %s %s", name, text), "name just what its Applications need")
		}
		if !used[name] {
			s.fail(file, "", fmt.Sprintf("AppProject %s is the project of no Application", name), "remove it from "+s.Bootstrap)
		}
		if in := s.Projects[name].Namespace; in != s.Settings.ArgoCDNamespace {
			s.fail(file, "", fmt.Sprintf("AppProject %s is in namespace %q, where Argo CD does not look", name, in),
				"let the component gitops/settings write it")
		}
	}
}

func (s subject) fileOf(project string) string {
	for _, o := range s.ByHand {
		if o.GroupVersionKind() == argo.ProjectKind && o.GetName() == project {
			return o.File
		}
	}
	return s.Bootstrap
}

// faults of a project, by Argo CD's own check and by ours.
func faults(project *v1alpha1.AppProject) []string {
	var found []string
	if err := project.ValidateProject(); err != nil {
		found = append(found, "is invalid: "+err.Error())
	}
	if len(project.Spec.NamespaceResourceWhitelist) == 0 {
		found = append(found, "has no namespaceResourceWhitelist, which permits every kind")
	}
	for _, text := range permitted(project) {
		if strings.ContainsAny(text, "*?[{") {
			found = append(found, fmt.Sprintf("has a wildcard in %q", text))
		}
	}
	return found
}

// permitted is all that a project names.
func permitted(project *v1alpha1.AppProject) []string {
	texts := slices.Concat(project.Spec.SourceRepos, project.Spec.SourceNamespaces)
	for _, d := range project.Spec.Destinations {
		texts = append(texts, d.Server, d.Name, d.Namespace)
	}
	for _, kind := range slices.Concat(project.Spec.ClusterResourceWhitelist, project.Spec.NamespaceResourceWhitelist) {
		texts = append(texts, kind.Group, kind.Kind)
	}
	return texts
}

// permissions: the project lets each Application be what it is, and make what it makes.
func permissions(s subject) {
	for _, app := range s.All() {
		project := s.Projects[app.Spec.Project]
		if project == nil {
			continue
		}
		for _, reason := range argo.Refused(app.Application, project) {
			s.fail(app.Manifest.File, app.Name, fmt.Sprintf("AppProject %s does not permit it: %s", project.Name, reason),
				"add it in "+s.fileOf(project.Name))
		}
		for _, o := range app.Objects {
			if o.Scope {
				permission(s, app, o, project)
			}
		}
	}
}

func permission(s subject, app *tree.App, o tree.Object, project *v1alpha1.AppProject) {
	kind := o.GroupVersionKind().GroupKind()
	if reason := argo.RefusedObject(app.Application, project, kind, o.Namespaced, o.Namespace); reason != "" {
		s.fail(at(o), app.Name, fmt.Sprintf("AppProject %s does not permit %s: %s", project.Name, o, reason),
			"add it in "+s.fileOf(project.Name))
	}
}

// scopes: whether the objects of a kind are in a namespace decides by which list they are permitted.
func scopes(s subject) {
	for app, o := range s.Objects() {
		if !o.Scope {
			kind := o.GroupVersionKind()
			s.fail(at(o), app.Name, fmt.Sprintf("%s: whether the kind %s of the group %q is in namespaces is not known", o,
				kind.Kind, kind.Group), "if the cluster brings it, add it under given in gitops/sources.json")
		}
	}
}
