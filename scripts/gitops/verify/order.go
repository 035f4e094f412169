package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

const giveIt = "if the cluster brings it, add it under given in " + tree.CatalogFile

// scopes: whether the objects of a kind are in namespaces decides which list of a project permits them.
func scopes(s subject) {
	for app, o := range s.Objects() {
		if !o.Known {
			s.fail(o.Place(), app.Name, giveIt, "%s: whether the kind %s of the group %q is in namespaces is not known",
				o, o.GetKind(), o.GroupVersionKind().Group)
		}
	}
}

// orderOfKinds: an Application that uses a kind comes after the one that brings it.
func orderOfKinds(s subject) {
	for app, o := range s.Objects() {
		switch bringer, known := s.Bringer(o.GroupVersionKind()); {
		case !known, bringer.Given != "":
		case bringer.App == nil:
			s.fail(o.Place(), app.Name, giveIt, "%s: no Application of this install method brings its kind", o)
		case app == bringer.App && !bringer.Itself:
			s.fail(o.Place(), app.Name, later,
				"%s is in the Application of the %s that makes OLM bring its kind some time later", o, bringer.Object)
		default:
			s.after(app, o, bringer.App, bringer.Object, "brings its kind")
		}
	}
}

const later = "give it a later wave"

// after: an object comes after another one, in a later Application or in no earlier wave.
func (s subject) after(app *tree.App, o tree.Object, otherApp *tree.App, other tree.Object, why string) {
	switch {
	case app != otherApp && app.Wave <= otherApp.Wave:
		s.fail(o.Place(), app.Name, later, "%s is of wave %d, and Application %s, which %s, of wave %d",
			o, app.Wave, otherApp.Name, why, otherApp.Wave)
	case app == otherApp && o.Wave < other.Wave:
		s.fail(o.Place(), app.Name, later, "%s is of wave %d, and the %s, which %s, of wave %d",
			o, o.Wave, other, why, other.Wave)
	}
}

// orderOfNamespaces: what is in a namespace comes after it.
func orderOfNamespaces(s subject) {
	given := []string{"", "default", "kube-system", "kube-public", "kube-node-lease", s.Settings["argocdNamespace"]}
	type owner struct {
		app    *tree.App
		object tree.Object
	}
	owners := map[string]owner{}
	for app, o := range s.Objects() {
		if o.Is("", "Namespace") {
			owners[o.GetName()] = owner{app, o}
		}
	}
	for app, o := range s.Objects() {
		namespace := o.Namespace
		if o.Is(tree.OLMv1, "ClusterExtension") { // OLM v1 does not make it
			namespace = o.Text("spec", "namespace")
		}
		if slices.Contains(given, namespace) {
			continue
		}
		if owner, found := owners[namespace]; found {
			s.after(app, o, owner.app, owner.object, "makes its namespace")
		} else {
			s.fail(o.Place(), app.Name, "add a Namespace to an earlier wave",
				"%s: no Application makes the namespace %s", o, namespace)
		}
	}
}

// stubs are the values that the tree has where a replacement writes another one.
var stubs = []string{"from-settings", "from-overlay", "from-health", "from-console-oidc"}

// leftovers: no stub is left.
func leftovers(s subject) {
	for _, o := range s.ByHand {
		leftover(s, "", o)
	}
	for app, o := range s.Objects() {
		leftover(s, app.Name, o)
	}
}

func leftover(s subject, application string, o tree.Object) {
	walk(o.Object, "", func(path string, value any) {
		text, _ := value.(string)
		if slices.ContainsFunc(stubs, func(stub string) bool { return strings.Contains(text, stub) }) {
			s.fail(o.Place(), application, "a replacement, in gitops/settings or beside the file, has to fill it",
				"%s: %s is still %q", o, path, text)
		}
	})
}

// walk visits each value of an object.
func walk(value any, path string, visit func(path string, value any)) {
	visit(strings.TrimPrefix(path, "."), value)
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			walk(item, fmt.Sprintf("%s[%d]", path, i), visit)
		}
	case map[string]any:
		for key, item := range value {
			walk(item, path+"."+key, visit)
		}
	}
}
