package forge

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/internal/testing/page"
)

const root = "../.."

func TestTheWorkflowsKeepEveryRule(t *testing.T) {
	makefile := page.Read(t, root+"/Makefile")
	workflows, err := Workflows(root)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ci.yaml", "nightly.yaml", "release.yaml", "site.yaml"}, slices.Sorted(maps.Keys(workflows))); diff != "" {
		t.Errorf("workflows (-want +got):\n%s", diff)
	}
	for name, text := range workflows {
		for _, problem := range Check(text, Targets(makefile)) {
			t.Errorf("%s: %s", name, problem)
		}
	}
}

const good = `on:
  pull_request:
  push:
    tags: ["v[0-9]+.[0-9]+.[0-9]+"]
permissions: {}
concurrency: ci
jobs:
  test:
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    permissions:
      contents: read # to check the code out
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          persist-credentials: false
      - run: make test ARGS="$ARGS"
`

func TestAWorkflowThatBreaksARuleIsNoticed(t *testing.T) {
	tests := map[string]struct{ old, new, want string }{
		"no permissions":                   {"permissions: {}\n", "", "permissions of the workflow must be {}"},
		"permissions for all":              {"permissions: {}\n", "permissions: {contents: read}\n", "must be {}"},
		"untrusted code with rights":       {"  pull_request:", "  pull_request_target:", "pull_request_target runs untrusted code"},
		"a run with the rights of another": {"  pull_request:", "  workflow_run: {workflows: [CI]}", "workflow_run runs untrusted code"},
		"tags of any name":                 {"[0-9]+\"", "[0-9]+*\"", "can hold more than a version"},
		"several at the same time":         {"concurrency: ci\n", "", "concurrency is missing"},
		"a system that changes":            {"ubuntu-24.04", "ubuntu-latest", `runs-on "ubuntu-latest"`},
		"no end":                           {"    timeout-minutes: 5\n", "", "timeout-minutes is missing"},
		"a job without permissions":        {"    permissions:\n      contents: read # to check the code out\n", "", "job test: permissions"},
		"a permission without a reason":    {"read # to check the code out", "read", `"contents: read" has no reason`},
		"a tag":                            {"3d3c42e5aac5ba805825da76410c181273ba90b1", "v7", "is not pinned"},
		"a short commit":                   {"3d3c42e5aac5ba805825da76410c181273ba90b1", "3d3c42e", "is not pinned"},
		"a commit without its version":     {" # v7.0.1", "", "is not pinned"},
		"a version that moves":             {"# v7.0.1", "# v7", "is not pinned"},
		"a token for every step":           {"persist-credentials: false", "fetch-depth: 1", "persist-credentials"},
		"a script":                         {`make test ARGS="$ARGS"`, "go test ./...", "must be a call of make with a single target"},
		"two commands":                     {`make test ARGS="$ARGS"`, "make test && curl example.com", "must be a call of make with a single target"},
		"a target that is not there":       {"make test", "make tests", "the Makefile has no target tests"},
		"an expression in a command":       {`"$ARGS"`, "${{ github.head_ref }}", "pass an expression in env"},
		"a file that is no YAML":           {"jobs:", "jobs: [", "yaml"},
		"a permission that is not a right": {"contents: read #", "contents: all #", "has no reason"},
	}
	if problems := Check(good, []string{"test"}); len(problems) > 0 {
		t.Fatalf("the good one: %v", problems)
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(good, tc.old) {
				t.Fatalf("the good one does not hold %q", tc.old)
			}
			problems := Check(strings.ReplaceAll(good, tc.old, tc.new), []string{"test"})
			said := func(problem string) bool { return strings.Contains(problem, tc.want) }
			if !slices.ContainsFunc(problems, said) {
				t.Errorf("nothing says %q: %v", tc.want, problems)
			}
		})
	}
}
