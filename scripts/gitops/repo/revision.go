package repo

import (
	"fmt"
	"path/filepath"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// At reads the files as they are in a commit, which revision names: a branch, a tag, HEAD~1, a hash.
func At(root, revision string) (Files, error) {
	tree, err := treeAt(root, revision)
	if err != nil {
		return nil, fmt.Errorf("revision %q of %s: %w", revision, root, err)
	}
	files := Files{}
	err = tree.Files().ForEach(func(file *object.File) error {
		if !file.Mode.IsRegular() || skipped(file.Name) || file.Size > maxFile {
			return nil
		}
		content, err := file.Contents()
		files[file.Name] = []byte(content)
		return err
	})
	return files, err
}

func treeAt(root, revision string) (*object.Tree, error) {
	repository, err := git.PlainOpenWithOptions(root, &git.PlainOpenOptions{
		DetectDotGit: true, EnableDotGitCommonDir: true, // also from a linked work tree
	})
	if err != nil {
		return nil, err
	}
	hash, err := repository.ResolveRevision(plumbing.Revision(revision))
	if err != nil {
		return nil, err
	}
	commit, err := repository.CommitObject(*hash)
	if err != nil {
		return nil, err
	}
	tree, err := commit.Tree()
	if err != nil {
		return nil, err
	}
	return within(repository, tree, root)
}

// within is the part of the tree that root is: a repository may hold more than this project.
func within(repository *git.Repository, tree *object.Tree, root string) (*object.Tree, error) {
	work, err := repository.Worktree()
	if err != nil {
		return nil, err
	}
	top, err := filepath.EvalSymlinks(work.Filesystem.Root())
	if err != nil {
		return nil, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	relative, err := filepath.Rel(top, root)
	if err != nil || relative == "." {
		return tree, err
	}
	return tree.Tree(filepath.ToSlash(relative))
}
