package verify

import (
	"slices"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

const giveIt = "if the cluster brings the kind, add the kind to the list `given` in " + tree.CatalogFile

// orderOfKinds: an Application that uses a kind comes after the one that brings it. Which list of a project permits
// objects of a kind depends on whether they are in namespaces.
func orderOfKinds(s subject, o tree.Object) {
	switch bringer, known := s.Bringer(o.GroupVersionKind()); {
	case !known:
		s.refuse(o, giveIt, ": whether the kind %s of the group %q is in namespaces is not known",
			o.GetKind(), o.GroupVersionKind().Group)
	case bringer.Given != "":
	case bringer.App == nil:
		s.refuse(o, giveIt, ": no Application of this install method brings its kind")
	case s.app == bringer.App && !bringer.Itself:
		s.refuse(o, later, " is in the Application of the %s that makes OLM bring its kind some time later", bringer.Object)
	default:
		s.after(o, bringer.App, bringer.Object, "brings its kind")
	}
}

const later = "give it a later wave"

// after: an object comes after another one, in a later Application or in no earlier wave.
func (s subject) after(o tree.Object, otherApp *tree.App, other tree.Object, why string) {
	wave, otherWave := s.app.Manifest.Wave, otherApp.Manifest.Wave
	switch {
	case s.app != otherApp && wave <= otherWave:
		s.refuse(o, later, " is of wave %d, and Application %s, which %s, of wave %d", wave, otherApp.Name, why, otherWave)
	case s.app == otherApp && o.Wave < other.Wave:
		s.refuse(o, later, " is of wave %d, and the %s, which %s, of wave %d", o.Wave, other, why, other.Wave)
	}
}

// orderOfNamespaces: what is in a namespace comes after it.
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
		if o.Is(tree.OLMv1, "ClusterExtension") { // OLM v1 does not make it
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

// stubs are the values that the tree has where a replacement writes another one.
var stubs = []string{"from-settings", "from-overlay", "from-existing", "from-console-oidc"}

// leftover: no stub is left.
func leftover(s subject, o tree.Object) {
	tree.Walk(o.Object, "", func(path string, value any) {
		text, _ := value.(string)
		if slices.ContainsFunc(stubs, func(stub string) bool { return strings.Contains(text, stub) }) {
			s.refuse(o, "a replacement, in gitops/settings or next to the file, has to fill it", ": %s is still %q", path, text)
		}
	})
}
