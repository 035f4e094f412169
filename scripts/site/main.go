// Command site builds a website from the pages of the documentation, both of this tree and of each release.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/cli"
	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

func main() { cli.Main(newCommand()) }

func newCommand() *cobra.Command {
	var base, out string
	command := &cobra.Command{
		Use:   "site",
		Short: "Build the pages as a website",
		Long: "Builds the pages of this tree, as the version main, and those of each tag vX.Y.Z that has a folder site.\n" +
			"Each version has a folder and a menu of all versions. The address without a version leads to the newest release.",
		Args: cobra.NoArgs,
	}
	command.Flags().StringVar(&base, "base", "/", "path of the address that the site will have")
	command.Flags().StringVar(&out, "out", "bin/site", "folder to write to, which is replaced")
	command.RunE = func(command *cobra.Command, _ []string) error {
		root, err := worktree.Root(command.Context())
		if err != nil {
			return err
		}
		if out, err = filepath.Abs(out); err != nil {
			return err
		}
		return build(command.Context(), root, "/"+strings.Trim(base, "/"), out)
	}
	return command
}

// unreleased is the name of the version that the tree has.
const unreleased = "main"

// redirect is the page at the address without a version. It redirects to the newest release.
const redirect = `<!doctype html>
<title>Documentation</title>
<meta http-equiv="refresh" content="0; url=%s/">
`

func build(ctx context.Context, root, base, out string) error {
	if _, err := exec.LookPath("npm"); err != nil {
		return errors.New("npm, which fetches VitePress, is missing: install Node.js 18 or newer with npm")
	}
	releases, err := releases(ctx, root)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	s := site{root: root, base: base, out: out, versions: append([]string{unreleased}, releases...)}
	for _, version := range s.versions {
		err := progress.Stage(ctx, "Pages of "+version, func(func(string)) error { return s.version(ctx, version) })
		if err != nil {
			return err
		}
	}
	newest := s.versions[min(1, len(releases))]
	return os.WriteFile(filepath.Join(out, "index.html"), fmt.Appendf(nil, redirect, newest), 0o644)
}

var released = regexp.MustCompile(`^v\d+\.\d+\.\d+$`)

// releases returns the tags of the releases whose tree has a site. The newest release is the first.
func releases(ctx context.Context, root string) (tags []string, err error) {
	all, err := worktree.Git(ctx, root, "tag", "--list", "v*", "--sort=-version:refname")
	if err != nil {
		return nil, err
	}
	for tag := range strings.FieldsSeq(all) {
		files, err := worktree.Git(ctx, root, "ls-tree", "--name-only", tag, "site/package.json")
		if err != nil {
			return nil, err
		}
		if released.MatchString(tag) && files != "" {
			tags = append(tags, tag)
		}
	}
	return tags, nil
}

// site is the website that is built from the repository at root.
type site struct {
	root, base, out string
	versions        []string
}

// version builds the pages of one version, with the configuration in that version's tree.
func (s site) version(ctx context.Context, version string) (err error) {
	dir := s.root
	if version != unreleased {
		if dir, err = os.MkdirTemp("", "site-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.remove(ctx, dir)) }()
		if _, err := worktree.Git(ctx, s.root, "worktree", "add", "--quiet", "--detach", dir, version); err != nil {
			return err
		}
	}
	environment := append(worktree.Environment(), "SITE_VERSION="+version, "SITE_VERSIONS="+strings.Join(s.versions, " "))
	folder := filepath.Join(dir, "site")
	if err := worktree.Run(ctx, folder, environment, "npm", "ci", "--prefer-offline"); err != nil {
		return err
	}
	return worktree.Run(ctx, folder, environment, "node_modules/.bin/vitepress", "build",
		"--base", strings.TrimSuffix(s.base, "/")+"/"+version+"/", "--outDir", filepath.Join(s.out, version))
}

// remove removes a work tree of Git, even after an interrupt.
func (s site) remove(ctx context.Context, dir string) error {
	_, err := worktree.Git(context.WithoutCancel(ctx), s.root, "worktree", "remove", "--force", dir)
	return errors.Join(err, os.RemoveAll(dir))
}
