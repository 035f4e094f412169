// Package tree builds the tree of an install method as Argo CD would: the root Application, the Applications that it
// makes, and the objects that these make. It calls Argo CD's own code, and works on the repository's files in memory.
package tree

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// Builder builds the trees of a variant of the files.
type Builder struct {
	Files   Files // each release of another project is a file, too
	Catalog Catalog
	Remotes []Remote
	// Package is the operator's name in catalogs, and Operator are the kinds that its bundle defines.
	Package  string
	Operator []Kind
	Schemas  Schemas
	Cache    Cache
	// Clusters are Secrets of example clusters, for which ApplicationSets make Applications.
	Clusters []corev1.Secret
	// Consumer is the repository whose tree is built, if it is not the operator's.
	Consumer *Consumer

	urls map[string]string // the URL of each release, by its file in Files
}

const bundle, annotationsFile = "bundle/manifests", "bundle/metadata/annotations.yaml"

// New returns a Builder. It knows the releases that the files list, and those in newer, a newer list, if it is not nil.
func New(files Files, newer []byte) (b *Builder, err error) {
	b = &Builder{Schemas: newSchemas(), Cache: Cache{}}
	if b.Catalog, err = parseCatalog(files[CatalogFile], newer); err != nil {
		return nil, err
	}
	if err := b.localise(files); err != nil {
		return nil, err
	}
	return b, b.readBundle()
}

// readBundle reads the operator's bundle: its name in catalogs, and the kinds that OLM installs from it.
func (b *Builder) readBundle() error {
	var metadata struct{ Annotations map[string]string }
	if err := yaml.Unmarshal(b.Files[annotationsFile], &metadata); err != nil {
		return fmt.Errorf("%s: %w", annotationsFile, err)
	}
	b.Package = metadata.Annotations["operators.operatorframework.io.bundle.package.v1"]
	for name, content := range b.Files {
		if path.Dir(name) != bundle || path.Ext(name) != ".yaml" {
			continue
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(content, &crd); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if crd.Kind != "CustomResourceDefinition" {
			continue
		}
		if err := b.Schemas.add(b.Package, crd); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		namespaced := crd.Spec.Scope == apiextensionsv1.NamespaceScoped
		b.Operator = append(b.Operator, Kind{crd.Spec.Group, crd.Spec.Names.Kind, namespaced})
	}
	if b.Package == "" || len(b.Operator) == 0 {
		return fmt.Errorf("bundle/ names no package, or holds no CustomResourceDefinition: run make bundle")
	}
	return nil
}

// Render returns the objects of a folder that kustomize builds.
func (b *Builder) Render(dir string) ([]Object, error) { return b.Cache.Render(b.Files, dir) }

// With returns a Builder for other files, which may differ only below gitops/.
func (b *Builder) With(files Files) *Builder {
	changed := *b
	changed.Files = files
	return &changed
}

// Tree is the whole tree of an install method.
type Tree struct {
	Method   string
	Settings Settings
	// Bootstrap is the folder that the user applies once. ByHand has the objects in that folder. It has no name.
	Bootstrap string
	ByHand    App
	Projects  map[string]*v1alpha1.AppProject
	// Root is the root Application. It is nil if the folder has none, which is a fault.
	Root *App
	// Apps are the Applications that the root makes, in the order of their waves.
	Apps []*App
	// Faults are the reasons why the tree is not complete.
	Faults []Fault

	bringers map[schema.GroupKind]Bringer
}

// App is an Application with its objects.
type App struct {
	*v1alpha1.Application
	// Manifest is the rendered Application.
	Manifest Object
	Objects  []Object
}

// Fault is something to correct, and its fix.
type Fault struct{ File, Application, Text, Fix string }

// Error returns the fault as text in one line.
func (f Fault) Error() string { return f.Of(nil) }

// Of returns the fault as text in one line, with the install methods that have the fault.
func (f Fault) Of(methods []string) string {
	where := f.File
	if f.Application != "" {
		where += ", Application " + f.Application
	}
	if len(methods) > 0 {
		where += " (" + strings.Join(methods, ", ") + ")"
	}
	return strings.ReplaceAll(fmt.Sprintf("%s: %s: %s", where, f.Text, f.Fix), "\n", " ")
}

// All returns the root Application and the Applications that it makes.
func (t *Tree) All() []*App {
	if t.Root == nil {
		return t.Apps
	}
	return append([]*App{t.Root}, t.Apps...)
}

// Objects returns the objects of all Applications, each with its Application.
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

// Build builds the tree of an install method.
func (b *Builder) Build(method string) (*Tree, error) {
	settings, err := b.Files.Settings()
	if err != nil {
		return nil, err
	}
	t := b.tree(settings, "gitops/bootstrap/"+method)
	t.Method = method
	if b.Consumer != nil {
		t.Bootstrap = bootstrapFile
		t.ByHand.Objects, err = b.Consumer.bootstrap(b.Cache)
	} else {
		t.ByHand.Objects, err = b.Render(t.Bootstrap)
	}
	if err != nil {
		t.fault(t.Bootstrap, "", "kustomize can't build it: "+err.Error(),
			"each install method has a folder in gitops/bootstrap with its root Application and its AppProjects")
		return t, nil
	}
	t.readByHand()
	if t.Root == nil {
		t.fault(t.Bootstrap, "", "has no Application", "add the root Application")
		return t, nil
	}
	b.finish(t)
	return t, nil
}

// grow renders the objects of the root Application, and those of the Applications that it makes.
func (b *Builder) grow(t *Tree) {
	b.fill(t, t.Root)
	for _, object := range b.expanded(t, t.Root.Objects) {
		if object.GroupVersionKind() == ApplicationKind {
			app := t.app(object)
			b.fill(t, app)
			t.Apps = append(t.Apps, app)
		}
	}
	slices.SortStableFunc(t.Apps, func(a, b *App) int {
		return cmp.Or(cmp.Compare(a.Manifest.Wave, b.Manifest.Wave), cmp.Compare(a.Name, b.Name))
	})
}

// expanded returns the objects, and in addition the Applications that the ApplicationSets among them make.
func (b *Builder) expanded(t *Tree, objects []Object) []Object {
	all := slices.Clone(objects)
	for _, object := range objects {
		if object.GroupVersionKind() != SetKind {
			continue
		}
		made, err := b.generate(object)
		if err != nil {
			t.fault(object.File, object.GetName(), "the ApplicationSet can't be rendered: "+err.Error(),
				"correct spec.generators or spec.template")
		}
		all = append(all, made...)
	}
	return all
}

// Fleet returns a tree for each cluster, whose root is the Application that the ApplicationSets in a folder make for
// the cluster. If they make no Application, it returns one tree without a root.
func (b *Builder) Fleet(folder string) ([]*Tree, error) {
	settings, err := b.Files.Settings()
	if err != nil {
		return nil, err
	}
	objects, err := b.Render(folder)
	if err != nil {
		return nil, err
	}
	fleet := b.tree(settings, folder)
	var trees []*Tree
	for _, object := range b.expanded(fleet, objects) {
		if object.GroupVersionKind() != ApplicationKind {
			continue
		}
		t := b.tree(maps.Clone(settings), folder)
		t.ByHand.Objects, t.Faults = slices.Clone(objects), fleet.Faults
		t.readByHand()
		t.Root = t.app(object)
		t.Settings["revision"] = t.Root.Spec.GetSource().TargetRevision
		t.Method = path.Base(t.Root.Spec.GetSource().Path)
		b.finish(t)
		t.Settings["architecture"] = cmp.Or(t.architecture(), t.Settings["architecture"])
		trees = append(trees, t)
	}
	if len(trees) == 0 {
		trees = append(trees, fleet) // so that its faults are reported
	}
	return trees, nil
}

func (b *Builder) tree(settings Settings, folder string) *Tree {
	return &Tree{
		Settings: settings, Bootstrap: folder, ByHand: App{Application: &v1alpha1.Application{}},
		Projects: map[string]*v1alpha1.AppProject{},
	}
}

// finish makes the Applications of the root, and completes all objects.
func (b *Builder) finish(t *Tree) {
	b.grow(t)
	if b.Consumer != nil {
		t.Settings = b.Consumer.settings(t, t.Settings)
	}
	t.bringers = b.bringers(t)
	t.ByHand.Objects = b.complete(t, t.ByHand.Objects, t.Settings["argocdNamespace"])
	for _, app := range t.All() {
		app.Objects = b.complete(t, app.Objects, app.Spec.Destination.Namespace)
	}
}

func (t *Tree) fault(file, application, text, fix string) {
	t.Faults = append(t.Faults, Fault{File: file, Application: application, Text: text, Fix: fix})
}

// readByHand finds the AppProjects and the root Application among the objects that the user applies by hand.
func (t *Tree) readByHand() {
	for _, object := range t.ByHand.Objects {
		switch kind := object.GroupVersionKind(); {
		case kind == ProjectKind:
			t.Projects[object.GetName()] = decoded[v1alpha1.AppProject](t, object)
		case kind == ApplicationKind && t.Root == nil:
			t.Root = t.app(object)
		case kind == ApplicationKind:
			t.fault(object.File, object.GetName(), "a second root", "move it to gitops/apps: only the root belongs here")
		}
	}
}

func (t *Tree) app(object Object) *App {
	return &App{Application: decoded[v1alpha1.Application](t, object), Manifest: object}
}

func decoded[T v1alpha1.Application | v1alpha1.AppProject](t *Tree, object Object) *T {
	decoded, err := Decode[T](object.Unstructured)
	if err != nil {
		text := fmt.Sprintf("Argo CD 2.14 does not accept %s %s: %v", object.GetKind(), object.GetName(), err)
		t.fault(object.File, "", text, "correct or remove the field")
	}
	return decoded
}
