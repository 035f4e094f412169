// Package check finds out whether the demo can work on a cluster, with a registry and a Git repository of the user's.
// It changes nothing: it reads, asks for rights, and tries what will be applied by the API server's dry run.
package check

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example-inc/memcached-operator/scripts/demo/gitrepo"
	"github.com/example-inc/memcached-operator/scripts/demo/target"
)

// Status is how a check ended.
type Status string

// Only Failed keeps the demo from going on.
const (
	Passed  Status = "passed"
	Warning Status = "warning"
	Failed  Status = "failed"
	Skipped Status = "skipped"
)

// Result is what a check found out.
type Result struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Found  string `json:"found"`
	Remedy string `json:"remedy,omitempty"` // or, with a warning, what to think of
}

// Subject is what is looked at, with what is found out about it.
type Subject struct {
	target.Options // the architecture and Argo CD's namespace are filled in, if they were left out

	Root  string // of the working tree
	Tree  string // folder with the published folders, to be rendered with the settings
	Clone string // folder for a work tree of the Git repository

	Kube              *target.Kube
	NodeArchitectures []string         // of the nodes that take Pods
	ControllerAccount string           // user that Argo CD acts as; empty: it is not in this cluster
	ArgoCDVersion     string           // empty: unknown
	Git               *gitrepo.Work    // a work tree of the branch
	Changes           []gitrepo.Change // that the commit makes

	Settings  []*unstructured.Unstructured // of Argo CD, to be applied
	Bootstrap []*unstructured.Unstructured // the root Application and the AppProjects, to be applied
}

// Check finds out one thing.
type Check struct {
	Name  string
	needs []string // checks without which this one would find nothing out
	run   func(context.Context, *Subject) Result
}

// names of the checks.
const (
	clusterCheck     = "cluster"
	nodesCheck       = "nodes"
	argoCDCheck      = "Argo CD"
	argoRightsCheck  = "Argo CD's rights"
	settingsCheck    = "Argo CD's settings"
	gitCheck         = "Git repository"
	gitLoginCheck    = "Argo CD reads it"
	registryCheck    = "registry"
	olmCheck         = "OLM"
	operatorCheck    = "the operator"
	memcachedsCheck  = "Memcacheds"
	applicationCheck = "root Application"
	rightsCheck      = "your rights"
)

// For returns the checks of a way, in their order.
func For(way target.Way) []Check {
	inCluster := []string{clusterCheck}
	checks := []Check{
		{clusterCheck, nil, cluster},
		{nodesCheck, inCluster, nodes},
		{argoCDCheck, inCluster, argoCD},
		{argoRightsCheck, []string{argoCDCheck}, argoRights},
		{settingsCheck, []string{argoCDCheck}, settings},
		{registryCheck, nil, checkRegistry},
		{gitCheck, nil, git},
		{gitLoginCheck, []string{argoCDCheck, gitCheck}, gitLogin},
		{operatorCheck, inCluster, operator},
		{memcachedsCheck, inCluster, memcacheds},
		{applicationCheck, []string{argoCDCheck}, application},
		{rightsCheck, []string{argoCDCheck}, rights},
	}
	if way.ByOLM() {
		i := slices.IndexFunc(checks, func(c Check) bool { return c.Name == operatorCheck })
		checks = slices.Insert(checks, i, Check{olmCheck, inCluster, olm})
	}
	return checks
}

// Run runs checks one by one. Each is told to begin before it runs, and to end with what it found.
func Run(ctx context.Context, s *Subject, checks []Check, end func(Result)) ([]Result, error) {
	var results []Result
	for _, check := range checks {
		result := check.after(results)
		if result.Status != Skipped {
			result = check.run(ctx, s)
		}
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx) // rather than what that made of the check
		}
		result.Name = check.Name
		end(result)
		results = append(results, result)
	}
	return results, nil
}

// after skips a check if one that it needs did not pass.
func (c Check) after(results []Result) Result {
	for _, result := range results {
		bad := result.Status == Failed || result.Status == Skipped
		if bad && slices.Contains(c.needs, result.Name) {
			return Result{Status: Skipped, Found: "not looked at: it needs " + result.Name}
		}
	}
	return Result{}
}

// Failures counts the checks that keep the demo from going on.
func Failures(results []Result) (n int) {
	for _, result := range results {
		if result.Status == Failed {
			n++
		}
	}
	return n
}

func passed(found string) Result { return Result{Status: Passed, Found: found} }

func warning(found, remedy string) Result {
	return Result{Status: Warning, Found: found, Remedy: remedy}
}

func failed(found, remedy string) Result { return Result{Status: Failed, Found: found, Remedy: remedy} }
