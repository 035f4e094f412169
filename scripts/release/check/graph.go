package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/example-inc/memcached-operator/scripts/release/catalog"
)

// graphRules are for the ways from one version to the next.
var graphRules = []rule[*catalog.Catalog]{
	{"channels hold versions that are there, each once", entries},
	{"each version is in a channel", func(c *catalog.Catalog) (broken messages) {
		for _, b := range c.Bundles {
			in := slices.ContainsFunc(c.Channels, func(ch *catalog.Channel) bool { return has(ch, b.Name) })
			broken.when(!in, "%s is in no channel", b.Name)
		}
		return broken
	}},
	{"a channel has one head", func(c *catalog.Catalog) (broken messages) {
		for _, ch := range c.Channels {
			heads := headsOf(ch)
			broken.when(len(heads) != 1, "channel %s has %d heads: %v", ch.Name, len(heads), heads)
		}
		return broken
	}},
	{"each version leads to the head", stranded},
	{"what is skipped is named", func(c *catalog.Catalog) (broken messages) {
		for _, ch := range c.Channels {
			for _, e := range ch.Entries {
				broken.when(slices.Contains(e.Skips, ""), "%s in %s skips a version without a name", e.Name, ch.Name)
				if e.SkipRange == "" {
					continue
				}
				_, err := semver.ParseRange(e.SkipRange)
				broken.when(err != nil, "%s in %s: skipRange %q: %v", e.Name, ch.Name, e.SkipRange, err)
			}
		}
		return broken
	}},
	{"a newer version never leads to an older one", func(c *catalog.Catalog) (broken messages) {
		for _, ch := range c.Channels {
			for _, e := range ch.Entries {
				this, err := versionOf(e.Name)
				that, other := versionOf(e.Replaces)
				broken.when(err == nil && other == nil && that.GE(this), "%s in %s replaces %s",
					e.Name, ch.Name, e.Replaces)
			}
		}
		return broken
	}},
}

func versionOf(name string) (semver.Version, error) {
	_, version, found := strings.Cut(name, ".v")
	if !found {
		return semver.Version{}, fmt.Errorf("%q has no version", name)
	}
	return semver.Parse(version)
}

func has(ch *catalog.Channel, name string) bool {
	return slices.ContainsFunc(ch.Entries, func(e catalog.Entry) bool { return e.Name == name })
}

func entries(c *catalog.Catalog) (broken messages) {
	for _, ch := range c.Channels {
		broken.when(len(ch.Entries) == 0, "channel %s is empty", ch.Name)
		seen := map[string]bool{}
		for _, e := range ch.Entries {
			broken.when(seen[e.Name], "%s is in channel %s twice", e.Name, ch.Name)
			broken.when(!exists(c, catalog.SchemaBundle, e.Name), "%s is in channel %s, and not there", e.Name, ch.Name)
			seen[e.Name] = true
		}
	}
	return broken
}

// headsOf are the versions that nothing follows upon.
func headsOf(ch *catalog.Channel) (heads []string) {
	for _, e := range ch.Entries {
		followed := slices.ContainsFunc(ch.Entries, func(other catalog.Entry) bool {
			return other.Replaces == e.Name || slices.Contains(other.Skips, e.Name)
		})
		if !followed {
			heads = append(heads, e.Name)
		}
	}
	return heads
}

// stranded finds versions from which no way leads on. From the head the walk goes back by what each version replaces
// and skips, as OLM v0's does.
func stranded(c *catalog.Catalog) (broken messages) {
	for _, ch := range c.Channels {
		reached := map[string]bool{}
		for _, head := range headsOf(ch) {
			for name := head; name != ""; name = follow(ch, name, reached) {
				if reached[name] {
					broken = append(broken, fmt.Sprintf("channel %s goes round in a circle at %s", ch.Name, name))
					break
				}
				reached[name] = true
			}
		}
		for _, e := range ch.Entries {
			broken.when(!reached[e.Name], "%s is stranded in channel %s", e.Name, ch.Name)
		}
	}
	return broken
}

// follow marks what a version skips as reached, and returns what it replaces.
func follow(ch *catalog.Channel, name string, reached map[string]bool) string {
	for _, e := range ch.Entries {
		if e.Name == name {
			for _, skipped := range e.Skips {
				reached[skipped] = true
			}
			return e.Replaces
		}
	}
	return "" // The oldest version of a channel may replace one that is not there any more.
}
