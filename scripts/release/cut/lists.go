package cut

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"text/template"

	"github.com/distribution/reference"

	"github.com/example-inc/memcached-operator/scripts/release/chart"
)

// writeMirrorList lists every image that a cluster pulls: what to copy, by digest, and the path and tag for the copy. A
// shell reads it by `while read -r image path`.
func (t *Tree) writeMirrorList() error {
	var images []string
	for _, i := range t.Images {
		images = append(images, i.String())
	}
	var list strings.Builder
	for _, image := range append(images, t.Memcached) {
		named, err := reference.ParseNormalizedNamed(image)
		if err != nil {
			return fmt.Errorf("%s: %w", image, err)
		}
		source, path := named.String(), reference.Path(named)
		if digested, ok := named.(reference.Digested); ok {
			source = named.Name() + "@" + digested.Digest().String()
		}
		if tagged, ok := named.(reference.Tagged); ok {
			path += ":" + tagged.Tag()
		}
		fmt.Fprintln(&list, source, path)
	}
	return t.writeFile("images.txt", []byte(list.String()))
}

//go:embed notes.md
var notes string

// withArea is a commit's subject: `area: what and why`.
var withArea = regexp.MustCompile(`^([\w./, -]+): (.+)$`)

// writeNotes writes the text of the release page.
func (t *Tree) writeNotes() error {
	changes := map[string][]string{}
	for _, subject := range t.Subjects {
		area, text := "others", subject
		if match := withArea.FindStringSubmatch(subject); match != nil {
			area, text = match[1], match[2]
		}
		changes[area] = append(changes[area], text)
	}
	var text strings.Builder
	err := template.Must(template.New("").Parse(notes)).Execute(&text, map[string]any{
		"Release": t, "Name": chart.Name, "Changes": changes,
		"AgentKept": t.Images[1].Content == nil, "Pinned": strings.Contains(t.Memcached, "@"),
	})
	if err != nil {
		return err
	}
	return t.writeFile("release-notes.md", []byte(text.String()))
}
