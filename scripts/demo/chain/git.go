package chain

import (
	"context"
	"errors"
	"fmt"

	"github.com/example-inc/memcached-operator/scripts/demo/target"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// Branch is what Argo CD follows.
const Branch = "main"

// published are the folders that Argo CD needs, from the root of the working tree.
var published = []string{"gitops", "overlays", "operator/config"}

// Repository is a work tree of the cluster's Git repository.
type Repository struct {
	URL string
	Dir string

	repository *git.Repository
}

// openRepository opens the work tree, or clones it. The bare repository may still be empty.
func openRepository(ctx context.Context, url, dir string) (*Repository, error) {
	repository, err := git.PlainOpen(dir)
	if errors.Is(err, git.ErrRepositoryNotExists) {
		repository, err = clone(ctx, url, dir)
	}
	if err != nil {
		return nil, err
	}
	return &Repository{URL: url, Dir: dir, repository: repository}, nil
}

func clone(ctx context.Context, url, dir string) (*git.Repository, error) {
	repository, err := git.PlainCloneContext(ctx, dir, false, &git.CloneOptions{
		URL: url, ReferenceName: plumbing.NewBranchReferenceName(Branch),
	})
	if err == nil {
		return repository, configure(repository)
	}
	if !errors.Is(err, transport.ErrEmptyRemoteRepository) {
		return nil, err
	}
	repository, err = git.PlainInitWithOptions(dir, &git.PlainInitOptions{
		InitOptions: git.InitOptions{DefaultBranch: plumbing.NewBranchReferenceName(Branch)},
	})
	if err != nil {
		return nil, err
	}
	_, err = repository.CreateRemote(&config.RemoteConfig{Name: git.DefaultRemoteName, URLs: []string{url}})
	if err != nil {
		return nil, err
	}
	return repository, configure(repository)
}

// configure lets people commit and push in the work tree as it is.
func configure(repository *git.Repository) error {
	settings, err := repository.Config()
	if err != nil {
		return err
	}
	settings.User.Name, settings.User.Email = "demo", "demo@memcached-operator.invalid"
	settings.Branches[Branch] = &config.Branch{
		Name: Branch, Remote: git.DefaultRemoteName, Merge: plumbing.NewBranchReferenceName(Branch),
	}
	return repository.SetConfig(settings)
}

// Publish puts the manifests of a working tree into the work tree, in place of those that are there, and commits
// them together with whatever the change does to them.
func (r *Repository) Publish(ctx context.Context, root, message string, change func(dir string) error) (string, error) {
	return r.Commit(ctx, message, func(dir string) error {
		if err := target.ReplaceFolders(root, dir, published); err != nil {
			return err
		}
		return change(dir)
	})
}

// Commit changes the work tree, commits and pushes, and returns the commit. Where nothing changed it returns the
// commit that is there.
func (r *Repository) Commit(ctx context.Context, message string, change func(dir string) error) (string, error) {
	if err := change(r.Dir); err != nil {
		return "", err
	}
	tree, err := r.repository.Worktree()
	if err != nil {
		return "", err
	}
	if err := tree.AddWithOptions(&git.AddOptions{All: true}); err != nil {
		return "", err
	}
	_, err = tree.Commit(message, &git.CommitOptions{})
	if err != nil && !errors.Is(err, git.ErrEmptyCommit) {
		return "", fmt.Errorf("commit: %w", err)
	}
	err = r.repository.PushContext(ctx, &git.PushOptions{})
	if err != nil && !errors.Is(err, git.NoErrAlreadyUpToDate) {
		return "", fmt.Errorf("push: %w", err)
	}
	return r.Head()
}

// Head is the last commit of the work tree.
func (r *Repository) Head() (string, error) {
	head, err := r.repository.Head()
	if err != nil {
		return "", err
	}
	return head.Hash().String(), nil
}
