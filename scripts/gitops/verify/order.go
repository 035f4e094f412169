package verify

import (
	"fmt"
	"slices"

	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

// orderOfKinds: an Application that uses a kind comes after the one that brings it.
func orderOfKinds(s subject) {
	brought := s.builder.Brought(s.Tree)
	for app, o := range s.Objects() {
		kind := o.GroupVersionKind().GroupKind()
		bringer := brought[kind]
		if bringer == nil {
			if !s.builder.Given(s.Way, kind) && o.Scope {
				s.fail(at(o), app.Name, fmt.Sprintf("%s: no Application of this way brings its kind", o),
					"if the cluster does, add it under given in gitops/sources.json")
			}
			continue
		}
		if text := tooEarly(app, o, bringer); text != "" {
			s.fail(at(o), app.Name, fmt.Sprintf("%s %s", o, text), "give it a later wave")
		}
	}
}

// tooEarly tells why an object may come before its kind. It is empty where it can't.
func tooEarly(app *tree.App, o tree.Object, bringer *tree.Bringer) string {
	switch {
	case app != bringer.App && app.Wave <= bringer.App.Wave:
		return fmt.Sprintf("is of wave %d, and Application %s, which brings its kind, of wave %d",
			app.Wave, bringer.App.Name, bringer.App.Wave)
	case app == bringer.App && !bringer.Itself:
		return fmt.Sprintf("is in the Application of the %s that makes OLM bring its kind some time later", bringer.Object)
	case app == bringer.App && o.Wave < bringer.Object.Wave:
		return fmt.Sprintf("is of wave %d, and the %s, which brings its kind, of wave %d",
			o.Wave, bringer.Object, bringer.Object.Wave)
	}
	return ""
}

// givenNamespaces are in every cluster.
var givenNamespaces = []string{"default", "kube-system", "kube-public", "kube-node-lease"}

type namespaceOwner struct {
	app    *tree.App
	object tree.Object
}

// orderOfNamespaces: what is in a namespace comes after it.
func orderOfNamespaces(s subject) {
	owners := map[string]namespaceOwner{}
	for app, o := range s.Objects() {
		if o.Is("", "Namespace") {
			owners[o.GetName()] = namespaceOwner{app: app, object: o}
		}
	}
	for app, o := range s.Objects() {
		if namespace := needed(o); namespace != "" && !s.givenNamespace(namespace) {
			inNamespace(s, app, o, namespace, owners)
		}
	}
}

// needed is the namespace that must be there before the object.
func needed(o tree.Object) string {
	if o.Is(tree.OLMv1, "ClusterExtension") { // OLM v1 does not make it
		return o.Text("spec", "namespace")
	}
	return o.Namespace
}

func (s subject) givenNamespace(name string) bool {
	return slices.Contains(givenNamespaces, name) || name == s.Settings.ArgoCDNamespace
}

func inNamespace(s subject, app *tree.App, o tree.Object, namespace string, owners map[string]namespaceOwner) {
	owner, found := owners[namespace]
	switch {
	case !found:
		s.fail(at(o), app.Name, fmt.Sprintf("%s: no Application makes the namespace %s", o, namespace),
			"add a Namespace to an earlier wave")
	case owner.app != app && owner.app.Wave >= app.Wave:
		s.fail(at(o), app.Name, fmt.Sprintf("%s is of wave %d, and Application %s, which makes its namespace, of wave %d",
			o, app.Wave, owner.app.Name, owner.app.Wave), "give it a later wave")
	case owner.app == app && owner.object.Wave > o.Wave:
		s.fail(at(o), app.Name, fmt.Sprintf("%s is of wave %d, and its namespace of wave %d", o, o.Wave, owner.object.Wave),
			"give it a later wave")
	}
}
