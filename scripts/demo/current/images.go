package current

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/example-inc/memcached-operator/scripts/demo/target"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/catalog"
	"github.com/example-inc/memcached-operator/scripts/release/image"
)

// pushed are the images, by digest.
type pushed struct {
	target.Pushed
	client string
}

func (d *demo) pushImages(ctx context.Context) (p pushed, err error) {
	refs := d.Images()
	err = progress.Stage(ctx, "Images", func(update func(string)) error {
		update("operator")
		if p.Operator, err = d.pushProgram(ctx, oci.Operator(d.Root, target.Version), refs.Operator); err != nil {
			return err
		}
		update("agent")
		if p.Agent, err = d.pushAgent(ctx, refs.Agent); err != nil {
			return err
		}
		update("client")
		p.client, err = d.pushProgram(ctx, oci.Program{Dir: d.Root, Package: "./test/client"}, refs.Client)
		if err != nil || !d.Way.ByOLM() {
			return err
		}
		update("bundle and catalog")
		p.Catalog, err = d.pushCatalog(ctx, p.Operator, p.Agent)
		return err
	})
	if err == nil && !readableByAll(ctx, p.Operator) {
		progress.Note(ctx, "! %s asks for a login: the nodes need one, too (docs/install.md, A private registry)", d.Registry)
	}
	return p, err
}

func (d *demo) pushAgent(ctx context.Context, ref string) (string, error) {
	program, _, err := oci.Agent(d.Root)
	if err != nil {
		return "", err
	}
	return d.pushProgram(ctx, program, ref)
}

// pushProgram builds a program for the platforms of the nodes, and pushes it.
func (d *demo) pushProgram(ctx context.Context, program oci.Program, ref string) (string, error) {
	var images []v1.Image
	for _, architecture := range d.Architectures() {
		program.Platform = v1.Platform{OS: "linux", Architecture: architecture}
		image, err := program.Build(ctx)
		if err != nil {
			return "", err
		}
		images = append(images, image)
	}
	index, err := oci.Index(images...)
	if err != nil {
		return "", err
	}
	return d.push(ctx, index, ref)
}

func (d *demo) push(ctx context.Context, index v1.ImageIndex, ref string) (string, error) {
	byDigest, err := oci.PushIndex(ctx, index, ref)
	if err != nil {
		return "", fmt.Errorf("%w: log in to %s by docker login or podman login, if it asks for that", err, d.Registry)
	}
	d.changed("pushed %s", ref)
	return target.ByDigest(ref, byDigest), nil
}

// pushCatalog makes a bundle, and a catalog of nothing but that, in the tree that is rendered.
func (d *demo) pushCatalog(ctx context.Context, operator, agent string) (string, error) {
	if err := d.setBundledImages(agent); err != nil {
		return "", err
	}
	dir, refs := filepath.Join(d.Tree, bundle.Dir), d.Images()
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	options := bundle.Options{Version: target.Version, Image: operator, Channels: []string{"stable"}}
	if err := catalog.WriteBundle(ctx, d.Tree, dir, options); err != nil {
		return "", err
	}
	bundled, err := d.pushFiles(ctx, image.Bundle, dir, refs.Bundle)
	if err != nil {
		return "", err
	}
	if err := catalog.AddBundle(dir, bundled); err != nil {
		return "", err
	}
	return d.pushFiles(ctx, image.Catalog, dir, refs.Catalog)
}

func (d *demo) pushFiles(ctx context.Context, kind image.Kind, dir, ref string) (string, error) {
	index, err := kind.Build(dir)
	if err != nil {
		return "", err
	}
	return d.push(ctx, index, ref)
}

// setBundledImages writes the images of caches into what the bundle is made of: OLM v1 has no other place for them.
func (d *demo) setBundledImages(agent string) error {
	path := filepath.Join(d.Tree, "operator/config/manager/manager.yaml")
	manager, err := yaml.ReadFile(path)
	if err != nil {
		return err
	}
	for variable, image := range map[string]string{
		"RELATED_IMAGE_MEMCACHED": d.MemcachedImage, "RELATED_IMAGE_AGENT": agent,
	} {
		err := manager.PipeE(
			yaml.Lookup("spec", "template", "spec", "containers", "[name=manager]", "env", "[name="+variable+"]"),
			yaml.SetField("value", yaml.NewStringRNode(image)))
		if err != nil {
			return err
		}
	}
	return yaml.WriteFile(manager, path)
}

// readableByAll tells whether an image can be pulled without a login.
func readableByAll(ctx context.Context, ref string) bool {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return false
	}
	_, err = remote.Head(parsed, remote.WithContext(ctx), remote.WithAuth(authn.Anonymous))
	return err == nil
}
