package dist

import (
	"bytes"
	"context"

	"github.com/example-inc/memcached-operator/scripts/release/sbom"
)

// writeSBOMs describes each image that the release holds.
func writeSBOMs(_ context.Context, c *Content) error {
	for _, i := range c.Images {
		if i.Index == nil {
			continue
		}
		var document bytes.Buffer
		described := sbom.Image{Name: i.Name, Repository: i.Repository, Tag: i.Tag, Digest: i.Digest, Index: i.Index}
		if err := sbom.Write(&document, described, c.Time); err != nil {
			return err
		}
		if err := c.writeFile("sbom/"+i.Name+".spdx.json", document.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
