package verify

import (
	"slices"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

const giveIt = "if every cluster has the kind, add it to the list `given` in " + tree.CatalogFile

// orderOfKinds: an Application that uses a kind comes after the Application that installs its definition. The kind's
// scope must be known, too, because an AppProject permits namespaced kinds in one list and other kinds in another.
func orderOfKinds(s subject, o tree.Object) {
	switch bringer, known := s.Bringer(o.GroupVersionKind()); {
	case !known:
		s.refuse(o, giveIt, ": it is not known whether the kind %s of the group %q is namespaced",
			o.GetKind(), o.GroupVersionKind().Group)
	case bringer.Given != "":
	case bringer.App == nil:
		s.refuse(o, giveIt, ": no Application of this install method defines its kind")
	case s.app == bringer.App && !bringer.Itself:
		s.refuse(o, later, " is in the same Application as the %[1]s, "+
			"but OLM defines the kind of this object only some time after the %[1]s is applied", bringer.Object)
	default:
		s.after(o, bringer.App, bringer.Object, "brings its kind")
	}
}

const later = "give it a later wave"

// after adds a fault unless an object comes after another one: either in a later Application or, in the same
// Application, in the same or a later wave.
func (s subject) after(o tree.Object, otherApp *tree.App, other tree.Object, why string) {
	wave, otherWave := s.app.Manifest.Wave, otherApp.Manifest.Wave
	switch {
	case s.app != otherApp && wave <= otherWave:
		s.refuse(o, later, " is in wave %d, but Application %s, which %s, is in wave %d", wave, otherApp.Name, why, otherWave)
	case s.app == otherApp && o.Wave < other.Wave:
		s.refuse(o, later, " is in wave %d, but the %s, which %s, is in wave %d", o.Wave, other, why, other.Wave)
	}
}

// orderOfNamespaces: an object in a namespace comes after the Namespace.
func orderOfNamespaces(s subject) {
	given := []string{"", "default", "kube-system", "kube-public", "kube-node-lease", s.Settings["argocdNamespace"]}
	apps, namespaces := map[string]*tree.App{}, map[string]tree.Object{}
	for app, o := range s.Objects() {
		if o.Is("", "Namespace") {
			apps[o.GetName()], namespaces[o.GetName()] = app, o
		}
	}
	each(func(s subject, o tree.Object) {
		namespace := o.Namespace
		if o.Is(tree.OLMv1, "ClusterExtension") { // OLM v1 does not make the namespace
			namespace = o.Text("spec", "namespace")
		}
		switch app := apps[namespace]; {
		case slices.Contains(given, namespace):
		case app == nil:
			s.refuse(o, "add a Namespace to an earlier wave", ": no Application makes the namespace %s", namespace)
		default:
			s.after(o, app, namespaces[namespace], "makes its namespace")
		}
	})(s)
}

// stubs are the values in the tree that a replacement of kustomize must replace.
var stubs = []string{"from-settings", "from-overlay", "from-existing", "from-console-oidc"}

// leftover: no stub is left in an object.
func leftover(s subject, o tree.Object) {
	tree.Walk(o.Object, "", func(path string, value any) {
		text, _ := value.(string)
		if slices.ContainsFunc(stubs, func(stub string) bool { return strings.Contains(text, stub) }) {
			s.refuse(o, "add a replacement that fills it, in gitops/settings or next to the file",
				": %s is still %q", path, text)
		}
	})
}
