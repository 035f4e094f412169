package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

// checkGit clones the branch, and finds what a commit would change. Only the push finds whether the user may push.
func (d *demo) checkGit(ctx context.Context, clone string) result {
	git, err := pipeline.Open(ctx, d.Repo, d.Revision, clone)
	if err != nil {
		return fail(err.Error(), "git must be able to read --repo and --revision without a question")
	}
	if err := d.Replace(clone); err != nil {
		return fail(err.Error(), "run this in a complete work tree of this repository")
	}
	if d.Changes, err = git.Stage(ctx, ""); err != nil {
		return fail(err.Error(), "git must be able to commit in a clone of --repo")
	}
	if git.New {
		d.Git = git
		return pass("%s, new branch %s", d.Repo, d.Revision)
	}
	replaced, err := git.Stage(ctx, "MD")
	replaced = slices.DeleteFunc(replaced, func(path string) bool { return path == values.Path })
	if d.Method.ByOLM() {
		replaced = append(replaced, "bundle/")
	}
	if err != nil || len(replaced) > 0 && !strings.Contains(git.Message(ctx), trailer) {
		return fail(fmt.Sprintf("the commit would replace files of %s: %s", d.Revision, strings.Join(replaced, ", ")),
			"name a new branch by --revision, or check out "+d.Revision+" first")
	}
	d.Git = git
	return pass("%s, on top of the branch %s", d.Repo, d.Revision)
}
