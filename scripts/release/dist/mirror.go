package dist

import (
	"context"
	"fmt"
	"strings"

	"github.com/distribution/reference"
)

// writeMirrorList lists every image that a cluster pulls: what to copy, by digest, and under which path and tag a
// mirror keeps it. A shell reads it by `while read -r image path`.
func writeMirrorList(_ context.Context, c *Content) error {
	var list strings.Builder
	for _, i := range c.Images {
		if err := writeMirrored(&list, i.Repository+":"+i.Tag+"@"+i.Digest); err != nil {
			return err
		}
	}
	if err := writeMirrored(&list, c.Memcached); err != nil {
		return err
	}
	return c.writeFile("images.txt", []byte(list.String()))
}

func writeMirrored(list *strings.Builder, image string) error {
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
	fmt.Fprintln(list, source, path)
	return nil
}
