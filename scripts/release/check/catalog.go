package check

import (
	"fmt"
	"slices"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/catalog"
)

var catalogRules = slices.Concat(documentRules, graphRules)

// documentRules are for the documents of a catalog, one by one.
var documentRules = []rule[*catalog.Catalog]{
	{"there is one package", func(c *catalog.Catalog) messages {
		if len(c.Packages) != 1 {
			return one(true, "%d documents of schema olm.package", len(c.Packages))
		}
		p := c.Packages[0]
		return slices.Concat(
			one(len(validation.IsDNS1123Label(p.Name)) > 0, "package %q is no name", p.Name),
			one(p.Icon.Data == "", "package %s has no icon", p.Name),
			one(p.Description == "", "package %s has no description", p.Name),
		)
	}},
	{"the default channel is one", func(c *catalog.Catalog) (broken messages) {
		for _, p := range c.Packages {
			found := slices.ContainsFunc(c.Channels, func(ch *catalog.Channel) bool { return ch.Name == p.DefaultChannel })
			broken.when(!found, "the default channel %q is not there", p.DefaultChannel)
		}
		return broken
	}},
	{"channels are of the package, and named once", func(c *catalog.Catalog) messages {
		broken := one(len(c.Channels) == 0, "there is no channel")
		seen := map[string]bool{}
		for _, ch := range c.Channels {
			broken.when(ch.Name == "", "a channel has no name")
			broken.when(seen[ch.Name], "channel %q is there twice", ch.Name)
			broken.when(!hasPackage(c, ch.Package), "channel %s is of %q, which is not there", ch.Name, ch.Package)
			seen[ch.Name] = true
		}
		return broken
	}},
	{"versions are named once", func(c *catalog.Catalog) (broken messages) {
		seen := map[string]bool{}
		for _, b := range c.Bundles {
			broken.when(seen[b.Name], "%q is there twice", b.Name)
			broken.when(!hasPackage(c, b.Package), "%s is of %q, which is not there", b.Name, b.Package)
			seen[b.Name] = true
		}
		return broken
	}},
	{"a version tells its package and its version", versionProperty},
	{"a version has the properties that it needs, and none that OLM v1 refuses", properties},
	{"the images of a version are well-formed", catalogImages},
	{"deprecations are of what is there", deprecations},
}

func hasPackage(c *catalog.Catalog, name string) bool {
	return slices.ContainsFunc(c.Packages, func(p catalog.Package) bool { return p.Name == name })
}

// packageProperty is the value of the property olm.package.
type packageProperty struct {
	PackageName string `yaml:"packageName"`
	Version     string
}

func propertiesOf(b *catalog.Bundle, kind string) (values []yaml.Node) {
	for _, p := range b.Properties {
		if p.Type == kind {
			values = append(values, p.Value)
		}
	}
	return values
}

func versionProperty(c *catalog.Catalog) (broken messages) {
	seen := map[string]bool{}
	for _, b := range c.Bundles {
		values := propertiesOf(b, "olm.package")
		if len(values) != 1 {
			broken = append(broken, fmt.Sprintf("%s has %d properties olm.package, want one", b.Name, len(values)))
			continue
		}
		var p packageProperty
		if err := values[0].Decode(&p); err != nil {
			broken = append(broken, fmt.Sprintf("%s: olm.package: %v", b.Name, err))
			continue
		}
		_, err := semver.Parse(p.Version)
		broken.when(p.PackageName != b.Package, "%s is of %s, its property says %s", b.Name, b.Package, p.PackageName)
		broken.when(err != nil, "%s: version %q: %v", b.Name, p.Version, err)
		broken.when(b.Name != bundle.Name(p.Version), "%s has the version %s", b.Name, p.Version)
		broken.when(seen[p.Version], "the version %s is there twice", p.Version)
		seen[p.Version] = true
	}
	return broken
}

func properties(c *catalog.Catalog) (broken messages) {
	for _, b := range c.Bundles {
		for _, kind := range []string{"olm.gvk", "olm.csv.metadata"} {
			broken.when(len(propertiesOf(b, kind)) == 0, "%s has no property %s", b.Name, kind)
		}
		for _, kind := range []string{"olm.gvk.required", "olm.package.required", "olm.constraint", "olm.bundle.object"} {
			broken.when(len(propertiesOf(b, kind)) > 0, "%s has a property %s", b.Name, kind)
		}
	}
	return broken
}

func catalogImages(c *catalog.Catalog) (broken messages) {
	for _, b := range c.Bundles {
		if err := bundle.ValidateImage("image", b.Image); err != nil {
			broken = append(broken, b.Name+": "+err.Error())
		}
		own := false
		for _, related := range b.RelatedImages {
			own = own || related.Image == b.Image
			if err := bundle.ValidateImage("relatedImages", related.Image); err != nil {
				broken = append(broken, b.Name+": "+err.Error())
			}
		}
		broken.when(!own, "%s: relatedImages lacks the bundle's own image", b.Name)
	}
	return broken
}

func deprecations(c *catalog.Catalog) (broken messages) {
	for _, node := range c.Others {
		var document struct {
			Schema  string
			Entries []struct {
				Reference struct{ Schema, Name string }
				Message   string
			}
		}
		if err := node.Decode(&document); err != nil {
			return one(true, "%v", err)
		}
		if document.Schema != "olm.deprecations" {
			continue
		}
		for _, entry := range document.Entries {
			broken.when(!exists(c, entry.Reference.Schema, entry.Reference.Name),
				"%s %s is deprecated, and not there", entry.Reference.Schema, entry.Reference.Name)
			broken.when(entry.Message == "", "the deprecation of %s has no message", entry.Reference.Name)
		}
	}
	return broken
}

func exists(c *catalog.Catalog, schema, name string) bool {
	switch schema {
	case catalog.SchemaPackage:
		return true
	case catalog.SchemaChannel:
		return slices.ContainsFunc(c.Channels, func(ch *catalog.Channel) bool { return ch.Name == name })
	case catalog.SchemaBundle:
		return slices.ContainsFunc(c.Bundles, func(b *catalog.Bundle) bool { return b.Name == name })
	}
	return false
}
