package check

import (
	"context"
	"fmt"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/demo/gitrepo"
	"github.com/example-inc/memcached-operator/scripts/demo/target"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

// Trailer is the last line of the demo's commits. What such a commit made, the next one may replace.
const Trailer = "Made-by: memcached-operator demo"

// git reads the repository, and finds out what a commit would change. Whether it may be pushed, only the push tells.
func git(ctx context.Context, s *Subject) Result {
	const remedy = "git ls-remote must work by itself for it, without a question (credential helper, SSH agent)"
	refs, err := gitrepo.Find(ctx, s.Repo, s.Revision)
	switch {
	case err != nil:
		return failed(err.Error(), remedy)
	case refs.Tag:
		return failed(fmt.Sprintf("%s has a tag %s", s.Repo, s.Revision),
			"choose the name of a branch by --revision, one that no tag has")
	}
	if s.Git, err = gitrepo.Clone(ctx, s.Repo, s.Revision, s.Clone); err != nil {
		return failed(err.Error(), remedy)
	}
	if err := s.stageWorkingTree(ctx); err != nil {
		return failed(err.Error(), "run it from a complete work tree of this repository")
	}
	if s.Git.New {
		return passed(fmt.Sprintf("%s, new branch %s", s.Repo, s.Revision))
	}
	if own := strings.Contains(s.Git.Message(ctx), Trailer); !own {
		if foreign := s.overwritten(); len(foreign) > 0 {
			return failed(fmt.Sprintf("the branch %s has other contents than your working tree, which would replace: %s",
				s.Revision, abridge(foreign)),
				"name a new branch by --revision, or check "+s.Revision+" out here first")
		}
	}
	return passed(fmt.Sprintf("%s, on top of the branch %s", s.Repo, s.Revision))
}

// stageWorkingTree puts what is published into the clone, as far as it is known.
func (s *Subject) stageWorkingTree(ctx context.Context) error {
	if err := target.Replace(s.Root, s.Clone); err != nil {
		return err
	}
	changes, err := s.Git.Stage(ctx, target.Published()...)
	s.Changes = changes
	return err
}

// overwritten are the files of the branch that the commit would change or remove, but for the settings.
func (s *Subject) overwritten() (paths []string) {
	for _, change := range s.Changes {
		if change.Status != "A" && change.Path != values.Path {
			paths = append(paths, change.Path)
		}
	}
	if s.Way.ByOLM() {
		paths = append(paths, bundle.Dir+"/ (bundle and catalog of the demo's own version)")
	}
	return paths
}

// abridge lists the first few.
func abridge(paths []string) string {
	const few = 5
	if len(paths) <= few {
		return strings.Join(paths, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(paths[:few], ", "), len(paths)-few)
}
