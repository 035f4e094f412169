package catalog

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// WriteBundle generates the bundle of the repository at root into dir. The version that the bundle replaces is read
// from the catalog in dir.
func WriteBundle(ctx context.Context, root, dir string, o bundle.Options) error {
	c, err := Load(dir)
	if err := cmp.Or(o.Validate(), err); err != nil {
		return err
	}
	o.Replaces, o.SkipRange = c.Previous(o.Channels[0], o.Version)
	files, err := bundle.Build(ctx, root, o)
	if err != nil {
		return err
	}
	return files.Write(dir)
}

// AddBundle adds the bundle in dir to the catalog next to it. The catalog names the bundle by this image reference.
func AddBundle(dir, image string) error {
	c, err1 := Load(dir)
	files, err2 := bundle.Read(dir)
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	if err := c.Add(files, image); err != nil {
		return err
	}
	if err := c.Check(); err != nil {
		return fmt.Errorf("%s was not written: %w", Path, err)
	}
	text, err := c.String()
	if err != nil {
		return err
	}
	return worktree.WriteFile(filepath.Join(dir, Path), []byte(text), 0o644)
}

// Renew writes the bundle and the catalog in dir again. The version, the channels and the images that the user has
// chosen stay the same.
func Renew(ctx context.Context, root, dir string) error {
	c, err1 := Load(dir)
	files, err2 := bundle.Read(dir)
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	v, err := files.Version()
	if err != nil {
		return err
	}
	listed := c.find(bundleSchema, v.Metadata.Name)
	if listed == nil {
		return fmt.Errorf("%s does not list %s: run make catalog", Path, v.Metadata.Name)
	}
	options, err := v.Renewed(root)
	if err != nil {
		return err
	}
	if err := WriteBundle(ctx, root, dir, options); err != nil {
		return err
	}
	return AddBundle(dir, listed.Image)
}

// Previous returns the newest version in a channel before this version, and the range of versions from the channel's
// oldest version to this one, without this one. An upgrade from each version in the range is possible, because the API
// only grows. Both results are empty for the first version.
func (c *Catalog) Previous(channel, version string) (previous, skipRange string) {
	oldest := ""
	for _, v := range c.versions(channel) {
		if v.GE(semver.MustParse(version)) {
			break
		}
		previous, oldest = v.String(), cmp.Or(oldest, v.String())
	}
	if oldest != "" {
		skipRange = fmt.Sprintf(">=%s <%s", oldest, version)
	}
	return previous, skipRange
}

func (c *Catalog) entries(channel string) []Entry {
	if d := c.find(channelSchema, channel); d != nil {
		return d.Entries
	}
	return nil
}

// versions returns the versions in a channel, the oldest first.
func (c *Catalog) versions(channel string) (versions []semver.Version) {
	for _, entry := range c.entries(channel) {
		if v, err := semver.Parse(strings.TrimPrefix(entry.Name, bundle.Name(""))); err == nil {
			versions = append(versions, v)
		}
	}
	semver.Sort(versions)
	return versions
}

// Add puts a bundle into its channels, with the reference of its image. If the catalog already has the version, Add
// replaces it. Add refuses a version that is older than the newest one in its channel.
func (c *Catalog) Add(files bundle.Files, image string) error {
	v, err := files.Version()
	if err := cmp.Or(bundle.ValidateImage("bundle-image", image), err); err != nil {
		return err
	}
	for _, channel := range v.Channels {
		versions := c.versions(channel)
		if len(versions) > 0 && versions[len(versions)-1].GT(semver.MustParse(v.Version)) {
			return fmt.Errorf("%s is older than %s, the newest version in the channel %s: only a newer version can be added",
				v.Metadata.Name, versions[len(versions)-1], channel)
		}
	}
	if err := c.describe(v, files[bundle.CSVFile], image); err != nil {
		return err
	}
	for _, channel := range v.Channels {
		entry := Entry{Name: v.Metadata.Name, SkipRange: v.SkipRange}
		if previous, _ := c.Previous(channel, v.Version); previous != "" {
			entry.Replaces = bundle.Name(previous)
		}
		others := slices.DeleteFunc(c.entries(channel), func(e Entry) bool { return e.Name == entry.Name })
		if err := c.put(channelDocument{channelSchema, bundle.Package, channel, append(others, entry)}); err != nil {
			return err
		}
	}
	return nil
}

// fromCSV are the fields of a ClusterServiceVersion that a catalog repeats, so that OLM need not read the bundle.
var fromCSV = []string{
	"description", "displayName", "installModes", "keywords", "links", "maintainers", "maturity", "minKubeVersion",
	"provider",
}

type packageDocument struct {
	Schema, Name   string
	DefaultChannel string `yaml:"defaultChannel"`
	Icon           map[string]string
	Description    *yaml.Node
}

type channelDocument struct {
	Schema, Package, Name string
	Entries               []Entry
}

type bundleDocument struct {
	Schema, Name, Package, Image string
	Properties                   []property
	RelatedImages                []bundle.RelatedImage `yaml:"relatedImages"`
}

type property struct {
	Type  string
	Value any
}

// describe adds the documents of the package and of a version to the catalog.
func (c *Catalog) describe(v *bundle.Version, csv, image string) error {
	object, err := yaml.Parse(csv)
	if err != nil {
		return fmt.Errorf("%s: %w", bundle.CSVFile, err)
	}
	field := func(path ...string) *yaml.Node { return bundle.Field(object, path...) }
	var icon map[string]string
	if err := field("spec", "icon", "0").Decode(&icon); err != nil {
		return fmt.Errorf("%s: spec.icon: %w", bundle.CSVFile, err)
	}
	metadata := map[string]any{
		"annotations": field("metadata", "annotations"), "labels": field("metadata", "labels"),
		"apiServiceDefinitions": struct{}{}, "crdDescriptions": field("spec", "customresourcedefinitions"),
	}
	for _, name := range fromCSV {
		metadata[name] = field("spec", name)
	}
	version := bundleDocument{
		Schema: bundleSchema, Name: v.Metadata.Name, Package: bundle.Package, Image: image,
		RelatedImages: append([]bundle.RelatedImage{{Image: image}}, v.Spec.RelatedImages...),
	}
	add := func(kind string, value any) { version.Properties = append(version.Properties, property{kind, value}) }
	add(packageSchema, map[string]string{"packageName": bundle.Package, "version": v.Version})
	for _, api := range v.Spec.CustomResourceDefinitions.Owned {
		_, group, _ := strings.Cut(api.Name, ".")
		add("olm.gvk", map[string]string{"group": group, "kind": api.Kind, "version": api.Version})
	}
	add("olm.csv.metadata", metadata)
	if err := c.put(version); err != nil {
		return err
	}
	return c.put(packageDocument{packageSchema, bundle.Package, v.DefaultChannel, icon, field("spec", "description")})
}
