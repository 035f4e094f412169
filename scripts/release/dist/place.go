package dist

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// place is where a release is written. It is written beside the folder that is asked for, and renamed when it is
// complete, so that nobody finds half of a release.
type place struct {
	out, temporary string
}

// openPlace refuses a folder that holds anything but a release.
func openPlace(out string) (*place, error) {
	absolute, err := filepath.Abs(out)
	if err != nil {
		return nil, err
	}
	if followed, err := filepath.EvalSymlinks(absolute); err == nil {
		absolute = followed // A link stays, and leads to the new release.
	}
	if err := replaceable(absolute); err != nil {
		return nil, fmt.Errorf("--out %q: %w", out, err)
	}
	parent, name := filepath.Split(absolute)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, err
	}
	temporary, err := os.MkdirTemp(parent, "."+name+"-")
	return &place{out: absolute, temporary: temporary}, err
}

// replaceable: the folder does not exist, is empty, or holds an earlier release and nothing else.
func replaceable(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil || len(entries) == 0 {
		return err
	}
	const fix = "remove it or name another folder"
	if _, err := ReadRecord(dir); err != nil {
		return errors.New("the folder holds files that are no release: " + fix)
	}
	files, err := readSums(dir)
	if err != nil {
		return fmt.Errorf("%w: %s", err, fix)
	}
	names, err := list(dir)
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(files, func(file File) bool { return file.Path == name })
	})
	if len(names) > 0 {
		return fmt.Errorf("the folder holds files that the release did not write, such as %s: %s",
			strings.Join(names[:min(3, len(names))], ", "), fix)
	}
	return nil
}

// finish puts the release where it was asked for. What was there has been checked again: it may have changed since.
func (p *place) finish() error {
	if err := replaceable(p.out); err != nil {
		return err
	}
	if err := setModes(p.temporary); err != nil {
		return err
	}
	old := p.temporary + "-old"
	if err := os.Rename(p.out, old); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Rename(p.temporary, p.out); err != nil {
		return errors.Join(err, os.Rename(old, p.out))
	}
	return os.RemoveAll(old)
}

// setModes lets everybody read a release, whatever the umask of whoever made it.
func setModes(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return os.Chmod(path, 0o755)
		}
		return os.Chmod(path, 0o644)
	})
}

// close removes what was not finished.
func (p *place) close() { _ = os.RemoveAll(p.temporary) }
