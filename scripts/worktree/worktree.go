// Package worktree runs git in a work tree, copies the tree's files, and reads and writes single values in files.
package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Git runs one git command in a folder and returns its output without the last newline.
func Git(ctx context.Context, dir string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir = dir
	command.Env = Environment()
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// Root returns the folder of the repository that this process runs in.
func Root(ctx context.Context) (string, error) { return Git(ctx, ".", "rev-parse", "--show-toplevel") }

// List runs one git command with -z and returns the file names that the command prints.
func List(ctx context.Context, dir string, args ...string) ([]string, error) {
	out, err := Git(ctx, dir, slices.Insert(args, 1, "-z")...)
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), err
}

// Run runs a command in a folder. If it fails, the error has the output of the command.
func Run(ctx context.Context, dir string, environment []string, words ...string) error {
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Dir, command.Env = dir, environment
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(words, " "), err, out)
	}
	return nil
}

// Environment returns the environment of this process without these variables, and without the variables that git sets
// for hooks. In a copy of the tree, the hook's variables would make git use the repository of the hook. The variables
// for the author and the committer stay.
func Environment(without ...string) []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		who := strings.HasPrefix(name, "GIT_AUTHOR_") || strings.HasPrefix(name, "GIT_COMMITTER_")
		return slices.Contains(without, name) || strings.HasPrefix(name, "GIT_") && !who
	})
}

// Files returns the regular files of the work tree, tracked or new, without ignored and deleted ones.
func Files(ctx context.Context, root string) ([]string, error) {
	names, err := List(ctx, root, "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate")
	return slices.DeleteFunc(names, func(name string) bool {
		info, err := os.Lstat(filepath.Join(root, name))
		return err != nil || !info.Mode().IsRegular()
	}), err
}

// Copy copies the work tree of a repository, uncommitted files included, to another folder.
func Copy(ctx context.Context, from, to string) error {
	files, err := Files(ctx, from)
	if err != nil {
		return err
	}
	return CopyFiles(from, to, files)
}

// CopyFiles copies files with their permissions, because some files are scripts.
func CopyFiles(from, to string, files []string) error {
	for _, name := range files {
		info, statErr := os.Stat(filepath.Join(from, name))
		content, err := os.ReadFile(filepath.Join(from, name))
		if err := errors.Join(statErr, err); err != nil {
			return err
		}
		if err := WriteFile(filepath.Join(to, name), content, info.Mode().Perm()); err != nil {
			return err
		}
	}
	return nil
}

// CopyRepository copies the work tree of a repository, uncommitted files included, into a new repository. Its only
// commit has all files, so git then reports the changes that are made there.
func CopyRepository(ctx context.Context, from, to string) error {
	if err := Copy(ctx, from, to); err != nil {
		return err
	}
	for _, command := range []string{
		"init --quiet", "add --all --force", "-c user.name=copy -c user.email=copy@localhost -c commit.gpgsign=false " +
			"commit --quiet --allow-empty --no-verify --message copy",
	} {
		if _, err := Git(ctx, to, strings.Fields(command)...); err != nil {
			return err
		}
	}
	return nil
}

// WriteFile writes a file and creates its folders.
func WriteFile(path string, content []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, mode)
}

// Place says where a value is in a file, such as a version in the Makefile.
type Place struct {
	File string
	Find string // a regular expression, whose first group is the value
}

// find returns the content of the file in the tree at root, and where the value begins and ends in it.
func (p Place) find(root string) (content []byte, begin, end int, err error) {
	content, err = os.ReadFile(filepath.Join(root, p.File))
	if err != nil {
		return nil, 0, 0, err
	}
	at := regexp.MustCompile(p.Find).FindSubmatchIndex(content)
	if at == nil {
		return nil, 0, 0, fmt.Errorf("%s: nothing matches %s: restore the line from Git", p.File, p.Find)
	}
	return content, at[2], at[3], nil
}

// Read returns the value in the tree at root.
func (p Place) Read(root string) (string, error) {
	content, begin, end, err := p.find(root)
	return string(content[begin:end]), err
}

// Write replaces the value in the tree at root, and leaves every other byte as it is.
func (p Place) Write(root, value string) error {
	content, begin, end, err := p.find(root)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, p.File), slices.Replace(content, begin, end, []byte(value)...), 0o644)
}
