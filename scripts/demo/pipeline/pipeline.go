// Package pipeline installs the operator as its users do: it pushes images to a registry and manifests to Git, and
// applies the root Application once. Argo CD then applies the manifests. The demo and the end-to-end tests use this
// package.
package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/kubeconfig"
	"github.com/example-inc/memcached-operator/scripts/kustomize"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

// Pipeline is a cluster with Argo CD, a registry, and the Git repository that Argo CD follows.
type Pipeline struct {
	Target
	kubeconfig.Connection
	Cluster       *local.Cluster // nil: the cluster is that of a kubeconfig
	Git           *Repository
	Root          string   // root of the working tree
	Architectures []string // architectures that programs are built for
	ArgoCDName    string   // name of the ArgoCD resource, if argocd-operator installed Argo CD

	Suite string                 // suite of Debian whose memcached a local cluster gets; empty: this machine's memcached
	Edit  func(dir string) error // changes the files that Publish commits; may be nil
}

// New returns the pipeline of a local cluster.
func New(ctx context.Context, cluster *local.Cluster) (*Pipeline, error) {
	root, err := builds.Root()
	if err != nil {
		return nil, err
	}
	host := oci.Host().Architecture
	p := &Pipeline{Cluster: cluster, Root: root, Architectures: []string{host}, Target: Target{Direct, values.Choices{
		Registry: cluster.Registry, Repo: cluster.Git, Revision: "main", Architecture: host, ArgoCDNamespace: "argocd",
	}}}
	if p.Connection, err = Connect(cluster.Kubeconfig, ""); err != nil {
		return nil, err
	}
	p.Git, err = Open(ctx, p.Repo, p.Revision, filepath.Join(filepath.Dir(cluster.Kubeconfig), "worktree"))
	return p, err
}

// UserAgent identifies the demo in the API server's audit log.
const UserAgent = "memcached-operator-demo"

// Connect connects to the cluster of a kubeconfig. It does not print the API server's warnings, because they are about
// manifests that users cannot change here.
func Connect(file, context string) (kubeconfig.Connection, error) {
	return kubeconfig.Connect(file, context, UserAgent, io.Discard)
}

// Publish commits the manifests of the working tree with the settings of the target, pushes them, and returns the
// commit. It commits nothing if nothing changed.
func (p *Pipeline) Publish(ctx context.Context, message string, images Images) (string, error) {
	return p.Git.Commit(ctx, message, func(dir string) error {
		err := p.Replace(dir)
		if err == nil {
			err = p.stamp(dir, images)
		}
		if err != nil || p.Edit == nil {
			return err
		}
		return p.Edit(dir)
	})
}

// Replace replaces the published folders in dir by the same folders of the working tree.
func (p *Pipeline) Replace(dir string) error {
	for _, folder := range published {
		to := filepath.Join(dir, folder)
		if err := os.RemoveAll(to); err != nil {
			return err
		}
		if err := os.CopyFS(to, os.DirFS(filepath.Join(p.Root, folder))); err != nil {
			return fmt.Errorf("%w: run this in a complete work tree of this repository", err)
		}
	}
	return nil
}

// Method is an install method: the name of a folder of gitops/apps.
type Method string

// These are the install methods that docs/gitops.md compares.
const (
	Direct    Method = "direct"
	OLM       Method = "olm"
	OpenShift Method = "openshift"
	OLMv1     Method = "olm-v1"
)

// ByOLM reports whether OLM installs the operator, from a catalog.
func (m Method) ByOLM() bool { return m != Direct }

// Folder returns the folder that the root Application follows.
func (m Method) Folder() string { return "gitops/apps/" + string(m) }

// Branch is the branch to push to in a user's repository, unless the user names another.
const Branch = "memcached-demo"

// imageTag is a tag that no release has, so a demo overwrites no release.
const imageTag = "demo"

// Target says from which registry and repository the operator is installed, and by which install method. An empty
// Architecture means the architecture of the Nodes, or multiarch if the Nodes have several. An empty ArgoCDNamespace
// means that the checks must find Argo CD.
type Target struct {
	Method Method
	values.Choices
}

// Complete sets the defaults, some of them from the settings of the working tree, and reports every invalid value.
func (t *Target) Complete(now values.Settings) error {
	t.Revision = cmp.Or(t.Revision, Branch)
	t.Registry = strings.TrimSuffix(t.Registry, "/")
	t.Version = imageTag
	t.MemcachedImage = cmp.Or(t.MemcachedImage, now.MemcachedImage)
	t.SnapshotImage = t.ref(snapshotImage)
	t.AgentImage, t.CatalogImage = now.AgentImage, now.CatalogImage // Publish replaces them.
	_, err := t.Resolve(now)
	if !slices.Contains([]Method{Direct, OLM, OpenShift, OLMv1}, t.Method) {
		err = errors.Join(fmt.Errorf("--method %q: choose direct, olm, openshift or olm-v1 (docs/gitops.md)", t.Method), err)
	}
	return err
}

// published are the folders of the working tree that Argo CD needs. If OLM installs the operator, Argo CD also needs
// the bundle that PushImages makes.
var published = []string{"gitops", "overlays", "operator/config"}

// stamp edits the settings file in dir: it writes the choices of the target, and all references in images that are not
// empty.
func (t *Target) stamp(dir string, images Images) error {
	return values.Edit(dir, func(s *values.Settings) {
		s.RepoURL, s.Revision = t.Repo, t.Revision
		s.ArgoCDNamespace = cmp.Or(t.ArgoCDNamespace, s.ArgoCDNamespace)
		s.Architecture = cmp.Or(t.Architecture, s.Architecture)
		s.MemcachedImage = cmp.Or(images.Memcached, t.MemcachedImage, s.MemcachedImage)
		s.OperatorImage = cmp.Or(images.Operator, s.OperatorImage)
		s.AgentImage = cmp.Or(images.Agent, s.AgentImage)
		s.SnapshotImage = cmp.Or(t.SnapshotImage, s.SnapshotImage)
		s.CatalogImage = cmp.Or(images.Catalog, s.CatalogImage)
	})
}

// Bootstrap renders the objects that are applied once: the settings of Argo CD, the AppProjects and the root
// Application.
func (p *Pipeline) Bootstrap() ([]*unstructured.Unstructured, error) {
	if err := p.stamp(p.Git.Dir, Images{}); err != nil {
		return nil, err
	}
	settings, err := p.settings()
	if err != nil {
		return nil, err
	}
	root, err := kustomize.Objects(filepath.Join(p.Git.Dir, "gitops/bootstrap", string(p.Method)))
	return append(settings, root...), err
}

// settings returns an object with keys of argocd-cm or, if argocd-operator installed Argo CD, the ArgoCD resource with
// these keys, because argocd-operator reverts changes to argocd-cm.
func (p *Pipeline) settings() ([]*unstructured.Unstructured, error) {
	folder := filepath.Join(p.Git.Dir, "gitops/bootstrap/argocd")
	if p.ArgoCDName == "" {
		return kustomize.Objects(filepath.Join(folder, "existing"))
	}
	objects, err := kustomize.Objects(filepath.Join(folder, "openshift"))
	for _, o := range objects {
		if o.GetKind() == ArgoCDKind.Kind {
			o.SetNamespace(p.ArgoCDNamespace)
			o.SetName(p.ArgoCDName)
		}
	}
	return objects, err
}

// ArgoCDKind is the kind of the resource from which argocd-operator makes an Argo CD.
var ArgoCDKind = schema.GroupVersionKind{Group: "argoproj.io", Version: "v1beta1", Kind: "ArgoCD"}

func object(kind schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

// ApplyRoot applies the objects that Bootstrap renders.
func (p *Pipeline) ApplyRoot(ctx context.Context) error {
	objects, err := p.Bootstrap()
	if err != nil {
		return err
	}
	return p.Apply(ctx, objects)
}

// owner is a field manager that only the demo uses. An apply removes the fields that the same field manager applied
// earlier and now leaves out.
const owner = client.FieldOwner("memcached-operator-demo")

// Apply applies objects without force, and reports the errors of all of them.
func (p *Pipeline) Apply(
	ctx context.Context, objects []*unstructured.Unstructured, options ...client.ApplyOption,
) error {
	var errs []error
	for _, o := range objects {
		// The client writes the API server's answer into the object that it applies, so it gets a copy.
		err := p.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o.DeepCopy()), append(options, owner)...)
		if err != nil {
			err = fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
