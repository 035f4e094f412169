package pipeline

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/catalog"
)

// Version is the operator's version in a demo. It is below every release.
const Version = "0.0.1-demo"

// Images are the images that a cluster runs, as references by digest.
type Images struct {
	Operator, Agent, Memcached, Client string
	Catalog                            string // empty unless OLM installs the operator
}

// programNames are the names of the images that have programs. The constants below name the images that only OLM needs.
var programNames = []string{"memcached-operator", "memcached-agent", "memcached-client"}

const bundleImage, catalogImage = "memcached-operator-bundle", "memcached-operator-catalog"

// snapshotImage is the image that saves caches. The manifests name it, but PushImages does not push it: its program has
// client libraries of clouds, which take minutes to compile, and a demo saves no cache.
const snapshotImage = "memcached-snapshot"

// ref returns the reference to which an image is pushed.
func (t *Target) ref(name string) string { return t.Registry + "/" + name + ":" + imageTag }

// SnapshotRef returns the reference of the image that saves caches. PushImages does not push this image.
func (t *Target) SnapshotRef() string { return t.ref(snapshotImage) }

// Refs returns the references to which PushImages pushes.
func (t *Target) Refs() (refs []string) {
	names := programNames
	if t.Method.ByOLM() {
		names = append(slices.Clone(names), bundleImage, catalogImage)
	}
	for _, name := range names {
		refs = append(refs, t.ref(name))
	}
	return refs
}

// PushImages builds the programs of the working tree, and pushes the images of the programs, and the images for OLM
// that are made from them. It calls update with the name of each image. It returns references by digest, which stay the
// same as long as the code and the version stay the same.
func (p *Pipeline) PushImages(ctx context.Context, version string, update func(string)) (images Images, err error) {
	agent, _, err := oci.Agent(p.Root)
	if err != nil {
		return images, err
	}
	client := oci.Program{Dir: p.Root, Package: "./test/client"}
	platforms := oci.PlatformsOf(p.Architectures)
	programs, err := oci.BuildAll(ctx, platforms, update, oci.Operator(p.Root, version), agent, client)
	if err != nil {
		return images, err
	}
	return p.push(ctx, programs, update)
}

// push pushes images, in the order of programNames.
func (p *Pipeline) push(ctx context.Context, programs []v1.ImageIndex, update func(string)) (images Images, err error) {
	pushed := make([]string, len(programs))
	for i, name := range programNames {
		update(name)
		if pushed[i], err = oci.Push(ctx, programs[i], p.ref(name)); err != nil {
			return images, err
		}
	}
	images.Operator, images.Agent, images.Client = pushed[0], pushed[1], pushed[2]
	if p.Cluster != nil {
		update("memcached")
		images.Memcached, err = p.PushMemcached(ctx, p.Suite)
		return images, err
	}
	if p.Method.ByOLM() {
		update("bundle and catalog")
		err = p.pushCatalog(ctx, &images)
	}
	return images, err
}

// PushMemcached makes an image of this machine's memcached, or of the memcached of a Debian suite, because a local
// cluster pulls only from its registry.
func (p *Pipeline) PushMemcached(ctx context.Context, suite string) (string, error) {
	memcached, version, err := oci.Memcached(ctx, suite)
	if err != nil {
		return "", err
	}
	return oci.Push(ctx, memcached, p.Cluster.Image("memcached", version))
}

// pushCatalog makes a bundle in the Git work tree, and pushes it with a catalog that has only this bundle.
func (p *Pipeline) pushCatalog(ctx context.Context, images *Images) (err error) {
	dir := filepath.Join(p.Git.Dir, bundle.Dir)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	options := bundle.Options{
		Images: bundle.Images{
			Operator: images.Operator, Agent: images.Agent, Memcached: p.MemcachedImage, Snapshot: p.ref(snapshotImage),
		},
		Version: Version, Channels: []string{"stable"},
	}
	if err := catalog.WriteBundle(ctx, p.Root, dir, options); err != nil {
		return err
	}
	bundled, err := p.pushFiles(ctx, bundle.Image, dir, bundleImage)
	if err != nil {
		return err
	}
	if err := catalog.AddBundle(dir, bundled); err != nil {
		return err
	}
	images.Catalog, err = p.pushFiles(ctx, bundle.CatalogImage, dir, catalogImage)
	return err
}

func (p *Pipeline) pushFiles(ctx context.Context, recipe bundle.Recipe, dir, name string) (string, error) {
	index, err := recipe.Build(dir)
	if err != nil {
		return "", err
	}
	return oci.Push(ctx, index, p.ref(name))
}
