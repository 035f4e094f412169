package cut

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/progress"
)

// Push pushes only the images and the chart of the release in dir to the release's registry. It checks everything
// before it pushes the first image.
func Push(ctx context.Context, dir string, out io.Writer) error {
	record, err := ReadRecord(dir)
	if err != nil {
		return err
	}
	isMissing := func(p v1.Platform) bool { return !slices.Contains(record.Platforms, p.String()) }
	if slices.ContainsFunc(oci.Platforms(), isMissing) {
		return fmt.Errorf("%s: this release is a trial for only %s. Pushed tags are final, so make the release again "+
			"without --platform", recordFile, strings.Join(record.Platforms, ", "))
	}
	err = progress.Stage(ctx, "Checksums", func(func(string)) error { return verify(dir) })
	if err != nil {
		return err
	}
	missing := map[string]oci.Artifact{}
	for _, i := range record.Images {
		artifact, err := open(dir, i)
		if err != nil {
			return err
		}
		switch present, err := isPresent(ctx, i); {
		case err != nil:
			return err
		case !present:
			missing[i.Name] = artifact
		}
	}
	for _, i := range record.Images {
		action := "unchanged"
		if artifact := missing[i.Name]; artifact != nil {
			action = "pushed"
			err := progress.Stage(ctx, "Push "+i.ByTag(), func(func(string)) error { return push(ctx, i, artifact) })
			if err != nil {
				return err
			}
		}
		fmt.Fprintf(out, "%s: %s\n  %s\n", i.ByTag(), action, i.Digest)
	}
	return nil
}

// open opens the layout of an image, and checks that the layout has the digest in the record. It returns nil for an
// image of an earlier release, which has no layout.
func open(dir string, i Image) (oci.Artifact, error) {
	if i.Layout == "" {
		return nil, nil
	}
	if !filepath.IsLocal(i.Layout) {
		return nil, fmt.Errorf("%s: %s is in %q, outside the release: make the release again", recordFile, i.Name, i.Layout)
	}
	index, err := layout.ImageIndexFromPath(filepath.Join(dir, i.Layout))
	digest, digestErr := v1.NewHash(i.Digest)
	if err := errors.Join(err, digestErr); err != nil {
		return nil, fmt.Errorf("%s: %w", i.Layout, err)
	}
	image, err := index.ImageIndex(digest)
	if err == nil {
		return image, nil
	}
	chart, chartErr := index.Image(digest)
	if chartErr == nil {
		return chart, nil
	}
	return nil, fmt.Errorf("%s does not hold %s, which %s names: make the release again: %w",
		i.Layout, i.Digest, recordFile, errors.Join(err, chartErr))
}

// isPresent asks the registry whether it has an image. It returns an error if the tag has another digest in the
// registry, because users of a release rely on a tag that never moves.
func isPresent(ctx context.Context, i Image) (bool, error) {
	reference, elsewhere := i.ByTag(), i.Layout == ""
	if elsewhere {
		reference = i.ByDigest()
	}
	found, err := oci.Digest(ctx, reference)
	switch {
	case err == nil && strings.HasSuffix(found, "@"+i.Digest):
		return true, nil
	case err == nil:
		return false, fmt.Errorf("%s is in the registry already, with another digest than %s, namely %s: choose a "+
			"higher version, or delete the tag if it is not in use", reference, i.Digest, found)
	case elsewhere:
		return false, fmt.Errorf("%w: the image belongs to an earlier release, and this release does not have it: push "+
			"that release first, or raise the version of the agent", err)
	case errors.Is(err, oci.ErrMissing):
		return false, nil
	}
	return false, err
}

// push pushes an image, and then checks that the registry returns the same digest for the image's tag.
func push(ctx context.Context, i Image, artifact oci.Artifact) error {
	if _, err := oci.Push(ctx, artifact, i.ByTag()); err != nil {
		return err
	}
	if same, err := isPresent(ctx, i); err != nil || !same {
		return fmt.Errorf("the registry does not return %s for %s: %w", i.Digest, i.ByTag(), err)
	}
	return nil
}
