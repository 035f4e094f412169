package cut

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func git(ctx context.Context, dir string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir = dir
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}

// tracked names the files of the commit.
func tracked(ctx context.Context, root string) ([]string, error) {
	out, err := git(ctx, root, "ls-files", "-z")
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), err
}

// commitTime is when the commit was made that is released: the same for each who makes the release.
func commitTime(ctx context.Context, root string) (string, error) {
	out, err := git(ctx, root, "log", "-1", "--format=%cI")
	if err != nil {
		return "", err
	}
	at, err := time.Parse(time.RFC3339, strings.TrimSpace(out))
	return at.UTC().Format(time.RFC3339), err
}

// history tells the last release, if there is one, and what was committed since.
func history(ctx context.Context, root string) (lastTag string, subjects []string, err error) {
	described, err := git(ctx, root, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*")
	span := "HEAD"
	if err == nil { // It fails where no tag is.
		lastTag = strings.TrimSpace(described)
		span = lastTag + "..HEAD"
	}
	out, err := git(ctx, root, "log", "--no-merges", "--format=%s", span)
	for subject := range strings.Lines(out) {
		subjects = append(subjects, strings.TrimSpace(subject))
	}
	return lastTag, subjects, err
}

func copyFiles(from, to string, names []string) error {
	for _, name := range names {
		source, target := filepath.Join(from, name), filepath.Join(to, name)
		info, err := os.Lstat(source)
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			continue
		}
		content, err := os.ReadFile(source)
		if err != nil {
			return err
		}
		if err := write(target, content, info.Mode().Perm()); err != nil {
			return err
		}
	}
	return nil
}

func write(path string, content []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, mode)
}

// walk visits each file of a folder, by its name from there, in order.
func walk(dir string, visit func(name string, content []byte) error) error {
	return fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		return visit(name, content)
	})
}
