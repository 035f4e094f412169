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

// replace calls write to fill a new folder, and moves this folder to out when it is complete, so that out never has
// half of a release. It refuses to replace a folder that has anything other than a release.
func replace(ctx context.Context, out string, write func(dir string) error) error {
	absolute, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	if followed, err := filepath.EvalSymlinks(absolute); err == nil {
		absolute = followed // If out is a link, the link stays, and leads to the new release.
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
	// All users of this computer may read a release, whatever the umask is.
	if err := worktree.Run(ctx, temporary, os.Environ(), "chmod", "-R", "u=rwX,go=rX", "."); err != nil {
		return err
	}
	if err := os.RemoveAll(absolute); err != nil {
		return err
	}
	return os.Rename(temporary, absolute)
}

// replaceable returns an error unless the folder does not exist, is empty, or has only an earlier release.
func replaceable(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil || len(entries) == 0 {
		return err
	}
	if err := verify(dir); err != nil {
		return fmt.Errorf("the folder has something else than a release: remove that or name another folder: %w", err)
	}
	return nil
}

// sumsFile lists the checksums of all other files, in the format that sha256sum reads.
const sumsFile = "SHA256SUMS"

// sums returns the checksums of all files in a folder except sumsFile.
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

// verify returns an error with the files that were changed, removed or added after the release was made.
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
	return fmt.Errorf("these files were changed, removed or added after %s was written: %s: make the release again",
		sumsFile, strings.Join(sets.List(differing), ", "))
}
