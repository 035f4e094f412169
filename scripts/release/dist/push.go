package dist

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/progress"
)

// Pushed is a release whose images and chart are in the registry.
type Pushed struct {
	Version string        `json:"version"`
	Images  []PushedImage `json:"images"`
}

// PushedImage is one of the images, and what had to be done about it.
type PushedImage struct {
	Reference string `json:"reference"` // by tag
	Digest    string `json:"digest"`
	Action    string `json:"action"`
}

// What is done about an image.
const (
	pushed    = "pushed"
	unchanged = "unchanged" // the registry has it already
)

// Push sends the images and the chart of the release in dir to its registry, and nothing else. All that could be wrong
// is checked before the first one is sent.
func Push(ctx context.Context, dir string, opts ...name.Option) (*Pushed, error) {
	record, err := ReadRecord(dir)
	if err != nil {
		return nil, err
	}
	if err := record.complete(); err != nil {
		return nil, err
	}
	err = progress.Stage(ctx, "Checksums", func(func(string)) error { return verify(dir) })
	if err != nil {
		return nil, err
	}
	p := &Pushed{Version: record.Version}
	sends := make([]send, len(record.Images))
	for n, i := range record.Images {
		if sends[n], err = i.open(dir, opts); err != nil {
			return nil, err
		}
		action, err := i.plan(ctx, opts)
		if err != nil {
			return nil, err
		}
		p.Images = append(p.Images, PushedImage{Reference: i.byTag(), Digest: i.Digest, Action: action})
	}
	for n, i := range record.Images {
		if p.Images[n].Action != pushed {
			continue
		}
		err := progress.Stage(ctx, "Push "+i.byTag(), func(func(string)) error { return i.push(ctx, sends[n], opts) })
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (i *Image) byTag() string { return i.Repository + ":" + i.Tag }

func (i *Image) byDigest() string { return i.Repository + "@" + i.Digest }

// is compares digests alone: references of one image can be written in several ways.
func (i *Image) is(found string) bool { return strings.HasSuffix(found, "@"+i.Digest) }

// A send pushes an image that was opened.
type send func(ctx context.Context) (reference string, err error)

// open opens the image's layout or package, which must hold what the record says, and nothing else.
func (i *Image) open(dir string, opts []name.Option) (send, error) {
	if within := cmp.Or(i.Layout, i.Package, "."); !filepath.IsLocal(within) {
		return nil, fmt.Errorf("%s: image %s is in %q, outside the release: make the release anew",
			recordFile, i.Name, within)
	}
	switch {
	case i.Layout != "":
		index, err := i.openLayout(dir)
		return func(ctx context.Context) (string, error) { return oci.PushIndex(ctx, index, i.byTag(), opts...) }, err
	case i.Package != "":
		packed, err := i.openPackage(dir)
		return func(ctx context.Context) (string, error) { return oci.Push(ctx, packed, i.byTag(), opts...) }, err
	}
	return nil, nil
}

func (i *Image) openLayout(dir string) (v1.ImageIndex, error) {
	digest, err := v1.NewHash(i.Digest)
	if err != nil {
		return nil, fmt.Errorf("%s: image %s: %w", recordFile, i.Name, err)
	}
	top, err := layout.ImageIndexFromPath(filepath.Join(dir, i.Layout))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", i.Layout, err)
	}
	index, err := top.ImageIndex(digest)
	if err != nil {
		return nil, fmt.Errorf("%s does not hold %s, which %s names: make the release anew: %w",
			i.Layout, i.Digest, recordFile, err)
	}
	return index, nil
}

func (i *Image) openPackage(dir string) (v1.Image, error) {
	packed, err := readChart(filepath.Join(dir, i.Package))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", i.Package, err)
	}
	digest, err := packed.Digest()
	if err == nil && digest.String() != i.Digest {
		err = fmt.Errorf("%s makes %s, and %s names %s: make the release anew", i.Package, digest, recordFile, i.Digest)
	}
	return packed, err
}

// plan asks the registry what is left to do. A tag is never moved: whoever has installed a release relies on it.
func (i *Image) plan(ctx context.Context, opts []name.Option) (action string, err error) {
	reference, elsewhere := i.byTag(), i.Layout == "" && i.Package == ""
	if elsewhere {
		reference = i.byDigest()
	}
	found, err := oci.Digest(ctx, reference, opts...)
	switch {
	case err == nil && i.is(found):
		return unchanged, nil
	case err == nil:
		return "", fmt.Errorf("%s is in the registry already, with another digest than %s, namely %s: "+
			"a release is made once: choose a higher version, or delete the tag if nobody uses it", reference, i.Digest, found)
	case elsewhere:
		return "", fmt.Errorf("%w: the image is of an earlier release, and this release does not hold it: "+
			"push it from there, or raise the version of the agent", err)
	case errors.Is(err, oci.ErrMissing):
		return pushed, nil
	}
	return "", err
}

// push sends an image, and asks the registry whether it has the same.
func (i *Image) push(ctx context.Context, send send, opts []name.Option) error {
	if _, err := send(ctx); err != nil {
		return errors.Join(err, errors.New("log in by docker login or podman login if the registry asks for it"))
	}
	found, err := oci.Digest(ctx, i.byTag(), opts...)
	if err == nil && !i.is(found) {
		err = fmt.Errorf("the registry returns %s for %s, want %s", found, i.byTag(), i.Digest)
	}
	return err
}

// Print writes it for people.
func (p *Pushed) Print(out io.Writer) error {
	for _, i := range p.Images {
		if _, err := fmt.Fprintf(out, "%s: %s\n  %s\n", i.Reference, i.Action, i.Digest); err != nil {
			return err
		}
	}
	return nil
}
