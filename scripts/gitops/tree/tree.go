// Package tree builds the tree of a way: the root Application, the Applications that it makes, and the objects that
// these make, as Argo CD would have them.
package tree

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/sync/syncwaves"

	"github.com/example-inc/memcached-operator/scripts/gitops/argo"
	"github.com/example-inc/memcached-operator/scripts/gitops/render"
	"github.com/example-inc/memcached-operator/scripts/gitops/repo"
)

// Tree is all that a way consists of.
type Tree struct {
	Way      string
	Settings repo.Settings
	// Bootstrap is the folder that is applied once, by hand, and ByHand what is in it.
	Bootstrap string
	ByHand    []Object
	Projects  map[string]*v1alpha1.AppProject
	// Root is nil where the way has none, which is a fault.
	Root *App
	// Apps are what the root makes, in the order of their waves.
	Apps []*App
	// Faults are why the tree is not whole.
	Faults []Fault
}

// App is an Application with what it makes.
type App struct {
	*v1alpha1.Application
	// Manifest is the Application as it is rendered.
	Manifest render.Object
	Wave     int
	Objects  []Object

	rendered []render.Object
}

// Fault is why a part of the tree can't be built.
type Fault struct {
	File, Application string
	Text, Remedy      string
}

// Where is the place of the fault, for people.
func (f Fault) Where() string {
	if f.Application == "" {
		return f.File
	}
	return f.File + ", Application " + f.Application
}

// All are the root and what it makes.
func (t *Tree) All() []*App {
	if t.Root == nil {
		return t.Apps
	}
	return append([]*App{t.Root}, t.Apps...)
}

// Objects are those of all Applications, each with its own.
func (t *Tree) Objects() iter.Seq2[*App, Object] {
	return func(yield func(*App, Object) bool) {
		for _, app := range t.All() {
			for _, object := range app.Objects {
				if !yield(app, object) {
					return
				}
			}
		}
	}
}

// Build builds the tree of a way.
func (b *Builder) Build(way string) (*Tree, error) {
	settings, err := b.Files.Settings()
	if err != nil {
		return nil, err
	}
	t := &Tree{
		Way: way, Settings: settings, Bootstrap: "gitops/bootstrap/" + way, Projects: map[string]*v1alpha1.AppProject{},
	}
	byHand, err := b.Render(t.Bootstrap)
	if err != nil {
		t.fault(Fault{
			File: t.Bootstrap, Text: "kustomize can't build it: " + err.Error(),
			Remedy: "each way has a folder in gitops/bootstrap with its root Application and its AppProjects",
		})
		return t, nil
	}
	t.readByHand(byHand)
	if t.Root == nil {
		t.fault(Fault{File: t.Bootstrap, Text: "holds no Application", Remedy: "it is the root that goes there"})
		return t, nil
	}
	b.fill(t, t.Root)
	t.readApplications()
	for _, app := range t.Apps {
		b.fill(t, app)
	}
	b.judge(t, byHand)
	return t, nil
}

// judge tells of each object where it goes, once all definitions of kinds are found.
func (b *Builder) judge(t *Tree, byHand []render.Object) {
	scopes := b.scopes(t)
	t.ByHand = b.objects(byHand, scopes, t.Settings.ArgoCDNamespace)
	for _, app := range t.All() {
		app.Objects = b.objects(app.rendered, scopes, app.Spec.Destination.Namespace)
	}
}

func (t *Tree) fault(f Fault) { t.Faults = append(t.Faults, f) }

// readByHand finds the projects and the root.
func (t *Tree) readByHand(objects []render.Object) {
	for _, object := range objects {
		switch object.GroupVersionKind() {
		case argo.ProjectKind:
			project, err := argo.Decode[v1alpha1.AppProject](object.Unstructured)
			t.undecoded(object, err)
			t.Projects[object.GetName()] = project
		case argo.ApplicationKind:
			if t.Root != nil {
				t.fault(Fault{
					File: object.File, Application: object.GetName(), Text: "a second root",
					Remedy: "Applications other than the root belong into gitops/apps",
				})
				continue
			}
			t.Root = t.app(object)
		}
	}
}

// readApplications finds the Applications among the objects of the root.
func (t *Tree) readApplications() {
	for _, object := range t.Root.rendered {
		if object.GroupVersionKind() == argo.ApplicationKind {
			t.Apps = append(t.Apps, t.app(object))
		}
	}
	slices.SortStableFunc(t.Apps, func(a, b *App) int {
		return cmp.Or(cmp.Compare(a.Wave, b.Wave), cmp.Compare(a.Name, b.Name))
	})
}

func (t *Tree) app(object render.Object) *App {
	decoded, err := argo.Decode[v1alpha1.Application](object.Unstructured)
	t.undecoded(object, err)
	return &App{Application: decoded, Manifest: object, Wave: syncwaves.Wave(object.Unstructured)}
}

func (t *Tree) undecoded(object render.Object, err error) {
	if err == nil {
		return
	}
	t.fault(Fault{
		File:   object.File,
		Text:   fmt.Sprintf("%s %s is none that Argo CD 2.14 knows: %v", object.GetKind(), object.GetName(), err),
		Remedy: "correct or remove the field",
	})
}

// fill renders what an Application points at.
func (b *Builder) fill(t *Tree, app *App) {
	source := app.Spec.GetSource()
	if _, found := b.Files.Kustomization(source.Path); !found {
		t.fault(Fault{
			File: app.Manifest.File, Application: app.Name,
			Text:   fmt.Sprintf("spec.source.path %q is no folder with a kustomization.yaml", source.Path),
			Remedy: "name one, from the root of the repository",
		})
		return
	}
	rendered, err := b.Render(source.Path)
	if err != nil {
		t.fault(Fault{
			File: source.Path, Application: app.Name, Text: "kustomize can't build it: " + err.Error(),
			Remedy: "try kubectl kustomize " + source.Path,
		})
	}
	app.rendered = rendered
}
