package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

// Previous is the newest version before the given one in a channel, and the oldest there; both are empty where there
// is none. A channel that is not there yet is a line of the default channel's.
func (c *Catalog) Previous(channel, version string) (previous, oldest string) {
	for _, v := range c.versions(channel) {
		if v.GE(semver.MustParse(version)) {
			break
		}
		previous, oldest = v.String(), cmp.Or(oldest, v.String())
	}
	return previous, oldest
}

// SkipRange are all versions from the oldest to the one before this: the API only grows, so each can be upgraded
// from. It is empty for the first version.
func SkipRange(oldest, version string) string {
	if oldest == "" {
		return ""
	}
	return fmt.Sprintf(">=%s <%s", oldest, version)
}

// versions of a channel, the oldest first.
func (c *Catalog) versions(channel string) (versions []semver.Version) {
	for _, ch := range c.Channels {
		if ch.Name != channel {
			continue
		}
		for _, entry := range ch.Entries {
			if v, err := semver.Parse(strings.TrimPrefix(entry.Name, bundle.Package+".v")); err == nil {
				versions = append(versions, v)
			}
		}
	}
	semver.Sort(versions)
	return versions
}

// Add puts a bundle into its channels, under the reference of its image. A version that is there already is
// replaced; one that is older than the newest of its channel is refused.
func (c *Catalog) Add(files bundle.Files, image string) error {
	if err := bundle.ValidateImage("bundle-image", image); err != nil {
		return err
	}
	v, err := readVersion(files)
	if err != nil {
		return err
	}
	for _, channel := range v.channels {
		if newest := last(c.versions(channel)); newest.GT(v.version) {
			return fmt.Errorf("%s is older than %s in the channel %s: a channel only grows at its head",
				v.name, newest, channel)
		}
	}
	c.Packages = []Package{v.packageDocument()}
	for _, name := range v.channels {
		c.channel(name).add(v, c)
	}
	c.addBundle(v.bundleDocument(image))
	return nil
}

func last(versions []semver.Version) semver.Version {
	if len(versions) == 0 {
		return semver.Version{}
	}
	return versions[len(versions)-1]
}

// channel returns the channel of that name, which is made where it is missing.
func (c *Catalog) channel(name string) *Channel {
	for _, channel := range c.Channels {
		if channel.Name == name {
			return channel
		}
	}
	channel := &Channel{Schema: SchemaChannel, Package: bundle.Package, Name: name}
	c.Channels = append(c.Channels, channel)
	return channel
}

func (ch *Channel) add(v *version, c *Catalog) {
	entry := Entry{Name: v.name, SkipRange: v.skipRange}
	if previous, _ := c.Previous(ch.Name, v.version.String()); previous != "" {
		entry.Replaces = bundle.Name(previous)
	}
	i := slices.IndexFunc(ch.Entries, func(e Entry) bool { return e.Name == v.name })
	if i < 0 {
		ch.Entries = append(ch.Entries, entry)
		return
	}
	ch.Entries[i] = entry
}

func (c *Catalog) addBundle(b *Bundle) {
	i := slices.IndexFunc(c.Bundles, func(other *Bundle) bool { return other.Name == b.Name })
	if i < 0 {
		c.Bundles = append(c.Bundles, b)
		return
	}
	c.Bundles[i] = b
}
