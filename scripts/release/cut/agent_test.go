package cut

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

const (
	bundledCSV = bundle.Dir + "/manifests/memcached-operator.clusterserviceversion.yaml"
	firstAgent = registry + "/memcached-agent:0.1.0@" + built
)

// agents are the agent's references, by the room.
func agents(t *testing.T, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, room := range []string{managerFile, values.Path, bundledCSV} {
		for line := range strings.Lines(read(t, root, room)) {
			if _, ref, isField := strings.Cut(strings.TrimSpace(line), ": "); isField && strings.Contains(ref, "/"+agentName) {
				found[room] = ref
			}
		}
	}
	return found
}

// releasedRepository is a repository with the release 0.2.0, which names the agent 0.1.0 by its digest.
func releasedRepository(t *testing.T) (root string) {
	t.Helper()
	root = repository(t)
	writeFile(t, root, "docs/install.md", read(t, root, documented)+"memcached-agent:0.1.0\n")
	commit(t, root, "docs: the agent")
	run(t, good(root))
	commit(t, root, "release: v0.2.0")
	mustGit(t, root, "tag", "v0.2.0")
	return root
}

// next is the release after that. Whoever builds the agent anew, such as by another Go, gets another one.
func next(root string) *Release {
	r := good(root)
	r.Version = "0.3.0"
	r.Build = func(context.Context, string, string) (Digests, error) { return Digests{built, other}, nil }
	return r
}

func TestTheAgentIsNamedByItsOwnVersionAndDigest(t *testing.T) {
	root := releasedRepository(t)
	want := map[string]string{
		managerFile: firstAgent, values.Path: firstAgent, bundledCSV: registry + "/memcached-agent@" + built,
	}
	if diff := cmp.Diff(want, agents(t, root)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAReleaseOfTheOperatorLeavesTheAgentAsItIs(t *testing.T) {
	root := releasedRepository(t)
	before := agents(t, root)
	for _, file := range []string{"operator/cmd/manager/main.go", "operator/cmd/agent/main_test.go", "operator/cmd/agent/fuzz/fuzz.go"} {
		writeFile(t, root, file, "package other\n")
	}
	commit(t, root, "operator: a change that is none of the agent")
	out := run(t, next(root))
	if diff := cmp.Diff(before, agents(t, root)); diff != "" {
		t.Errorf("references (-before +after):\n%s", diff)
	}
	if docs := read(t, root, documented); !strings.Contains(docs, "memcached-agent:0.1.0\n") || !strings.Contains(docs, "VERSION=0.3.0") {
		t.Errorf("the documentation is\n%s", docs)
	}
	if want := registry + "/memcached-agent:0.1.0, the same as before\n    " + built; !strings.Contains(out, want) {
		t.Errorf("the report does not hold %q:\n%s", want, out)
	}
}

func TestAnAgentOfAnotherVersionComesWithARelease(t *testing.T) {
	root := releasedRepository(t)
	writeFile(t, root, agentVersion, "0.1.1\n")
	commit(t, root, "agent: version 0.1.1")
	r := next(root)
	out := run(t, r)
	want := map[string]string{bundledCSV: registry + "/memcached-agent@" + other}
	want[managerFile] = registry + "/memcached-agent:0.1.1@" + other
	want[values.Path] = want[managerFile]
	if diff := cmp.Diff(want, agents(t, root)); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	if docs := read(t, root, documented); !strings.Contains(docs, "memcached-agent:0.1.1\n") {
		t.Errorf("the documentation is\n%s", docs)
	}
	if want := "memcached-agent:0.1.1, in place of " + firstAgent; !strings.Contains(out, want) {
		t.Errorf("the report does not hold %q:\n%s", want, out)
	}
}

func TestAnAgentThatCannotBeReleasedIsToldBeforeAnythingIsWritten(t *testing.T) {
	tests := map[string]struct {
		change func(t *testing.T, r *Release)
		want   []string
	}{
		"its sources have changed, and its version has not": {
			func(t *testing.T, r *Release) {
				writeFile(t, r.Root, "operator/cmd/agent/main.go", "package main // changed\n")
				commit(t, r.Root, "agent: a change")
			},
			[]string{"changed since v0.2.0, in operator/cmd/agent/main.go", "raise it in " + agentVersion},
		},
		"a file of it is gone, and its version is the same": {
			func(t *testing.T, r *Release) {
				mustGit(t, r.Root, "rm", "--quiet", "operator/cmd/agent/main.go")
				commit(t, r.Root, "agent: without a file")
			},
			[]string{"in operator/cmd/agent/main.go"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := next(releasedRepository(t))
			tc.change(t, r)
			assertRefused(t, r, tc.want)
		})
	}
}

func TestAnAgentInAnotherRegistryIsWhatTheSourcesMake(t *testing.T) {
	root := releasedRepository(t)
	r := next(root)
	r.Registry = "registry.acme.test/another"
	run(t, r)
	want := map[string]string{bundledCSV: r.Registry + "/memcached-agent@" + other}
	want[managerFile] = r.Registry + "/memcached-agent:0.1.0@" + other
	want[values.Path] = want[managerFile]
	if diff := cmp.Diff(want, agents(t, root)); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
}
