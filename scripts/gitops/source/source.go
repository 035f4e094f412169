// Package source knows what the tree takes from elsewhere: releases of other projects, by URL. What they hold is
// listed in gitops/sources.json, so that the tree can be judged without them; where they can be had, they are taken.
package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// File lists what the sources hold.
const File = "gitops/sources.json"

// Catalog is the content of that file.
type Catalog struct {
	// Releases are the objects of each source, by its URL.
	Releases map[string][]Object `json:"releases"`
	// Given are kinds that no Application brings: the cluster has them.
	Given []Given `json:"given"`
}

// Object is an object of a source: what must be known of it to judge the tree, and nothing that is its project's work.
type Object struct {
	Group     string   `json:"group"`
	Version   string   `json:"version"`
	Kind      string   `json:"kind"`
	Namespace string   `json:"namespace,omitempty"`
	Name      string   `json:"name"`
	Images    []string `json:"images,omitempty"`
	// Defines is the kind that the object, a CustomResourceDefinition, brings.
	Defines *Kind `json:"defines,omitempty"`
}

// Kind is a kind of objects.
type Kind struct {
	Group      string   `json:"group"`
	Kind       string   `json:"kind"`
	Plural     string   `json:"plural,omitempty"`
	Versions   []string `json:"versions,omitempty"`
	Namespaced bool     `json:"namespaced"`
}

// Given are kinds that a cluster has before the tree comes.
type Given struct {
	By string `json:"by"`
	// Ways are those in which they are given; without any it is all of them.
	Ways  []string `json:"ways,omitempty"`
	Kinds []Kind   `json:"kinds"`
}

// Parse reads the file, and refuses what it does not know.
func Parse(content []byte) (Catalog, error) {
	var c Catalog
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return c, fmt.Errorf("%s: %w: write it anew by: sources --write --sources fetch", File, err)
	}
	return c, nil
}

// Encode writes the file: an object a line, so that a change of one is a change of one line.
func (c Catalog) Encode() ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("{\n  \"releases\": {\n")
	urls := slices.Sorted(maps.Keys(c.Releases))
	for i, url := range urls {
		fmt.Fprintf(&out, "    %q: [\n", url)
		if err := lines(&out, "      ", c.Releases[url]); err != nil {
			return nil, err
		}
		out.WriteString("    ]" + comma(i, len(urls)))
	}
	out.WriteString("  },\n  \"given\": [\n")
	if err := lines(&out, "    ", c.Given); err != nil {
		return nil, err
	}
	out.WriteString("  ]\n}\n")
	return out.Bytes(), nil
}

func lines[T any](out *bytes.Buffer, indent string, items []T) error {
	for i, item := range items {
		line, err := json.Marshal(item)
		if err != nil {
			return err
		}
		out.WriteString(indent + string(line) + comma(i, len(items)))
	}
	return nil
}

func comma(i, of int) string {
	if i == of-1 {
		return "\n"
	}
	return ",\n"
}

// In tells whether the kinds are given in a way.
func (g Given) In(way string) bool { return len(g.Ways) == 0 || slices.Contains(g.Ways, way) }

// Over is the catalog with what another lists of sources that this one does not.
func (c Catalog) Over(other Catalog) Catalog {
	releases := maps.Clone(other.Releases)
	maps.Copy(releases, c.Releases)
	return Catalog{Releases: releases, Given: c.Given}
}
