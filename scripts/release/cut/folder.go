package cut

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// replace lets write fill a new folder, and puts that instead of out when it is complete, so that out never holds
// half of a release. It refuses to replace anything but a release.
func replace(ctx context.Context, out string, write func(dir string) error) error {
	absolute, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	if followed, err := filepath.EvalSymlinks(absolute); err == nil {
		absolute = followed // A link stays, and leads to the new release.
	}
	if err := replaceable(absolute); err != nil {
		return fmt.Errorf("--out %q: %w", out, err)
	}
	parent, name := filepath.Split(absolute)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	temporary, err := os.MkdirTemp(parent, "."+name+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	if err := errors.Join(write(temporary), replaceable(absolute)); err != nil {
		return err
	}
	// Everybody may read a release, whatever the umask is.
	if err := worktree.Run(ctx, temporary, os.Environ(), "chmod", "-R", "u=rwX,go=rX", "."); err != nil {
		return err
	}
	if err := os.RemoveAll(absolute); err != nil {
		return err
	}
	return os.Rename(temporary, absolute)
}

// replaceable reports whether a folder does not exist, is empty, or holds an earlier release and nothing else.
func replaceable(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil || len(entries) == 0 {
		return err
	}
	if err := verify(dir); err != nil {
		return fmt.Errorf("the folder holds something else than a release: remove it or name another folder: %w", err)
	}
	return nil
}

// sumsFile lists the checksum of every other file, as sha256sum reads it.
const sumsFile = "SHA256SUMS"

// sums are the checksums of the files in a folder, without those of the checksums themselves.
func sums(dir string) (string, error) {
	var text strings.Builder
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || name == sumsFile {
			return err
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256(content), name)
		return err
	})
	return text.String(), err
}

// verify reports the files that have changed since the release was made, are missing, or were added.
func verify(dir string) error {
	listed, err := os.ReadFile(filepath.Join(dir, sumsFile))
	if err != nil {
		return err
	}
	present, err := sums(dir)
	if err != nil {
		return err
	}
	lines := func(text string) sets.Set[string] { return sets.New(slices.Collect(strings.Lines(text))...) }
	differing := sets.New[string]()
	for line := range lines(string(listed)).SymmetricDifference(lines(present)) {
		_, name, _ := strings.Cut(line, "  ")
		differing.Insert(strings.TrimSpace(name))
	}
	if len(differing) == 0 {
		return nil
	}
	return fmt.Errorf("changed, missing or not listed in %s: %s: make the release again",
		sumsFile, strings.Join(sets.List(differing), ", "))
}
