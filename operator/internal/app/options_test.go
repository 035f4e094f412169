package app

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestImagesComeFromTheEnvironment(t *testing.T) {
	const own = "registry.example.com/team/own@sha256:0"
	type images struct{ Memcached, Agent, Snapshot string }
	tests := map[string]struct {
		environment map[string]string
		want        images
	}{
		"none is named":              {nil, images{DefaultMemcachedImage, DefaultAgentImage, DefaultSnapshotImage}},
		"an empty one is none":       {map[string]string{EnvMemcachedImage: "", EnvAgentImage: ""}, images{DefaultMemcachedImage, DefaultAgentImage, DefaultSnapshotImage}},
		"a memcached image is named": {map[string]string{EnvMemcachedImage: own}, images{own, DefaultAgentImage, DefaultSnapshotImage}},
		"one that saves caches":      {map[string]string{EnvSnapshotImage: own}, images{DefaultMemcachedImage, DefaultAgentImage, own}},
		"an agent's image is named":  {map[string]string{EnvAgentImage: own}, images{DefaultMemcachedImage, own, DefaultSnapshotImage}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, variable := range []string{EnvMemcachedImage, EnvAgentImage, EnvSnapshotImage} {
				t.Setenv(variable, tc.environment[variable])
			}
			o := NewOptions()
			if diff := cmp.Diff(tc.want, images{o.MemcachedImage, o.AgentImage, o.SnapshotImage}); diff != "" {
				t.Errorf("images (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTheDefaultAgentIsOfTheAgentsVersion: if the agent's version is raised, the tag of DefaultAgentImage has to be
// raised, too.
func TestTheDefaultAgentIsOfTheAgentsVersion(t *testing.T) {
	version, err := os.ReadFile("../../cmd/agent/VERSION")
	if err != nil {
		t.Fatal(err)
	}
	if want := ":" + strings.TrimSpace(string(version)); !strings.HasSuffix(DefaultAgentImage, want) {
		t.Errorf("the default is %s, want the tag %s", DefaultAgentImage, want)
	}
}

func TestAtLeastOneCacheMustBeUpdatedAtATime(t *testing.T) {
	for most, want := range map[int]string{
		1: "", 5: "",
		0:  "--max-concurrent-updates is 0: set it to 1 or more",
		-1: "--max-concurrent-updates is -1: set it to 1 or more",
	} {
		o := NewOptions()
		o.MaxConcurrentUpdates = most
		got := ""
		if err := o.validate(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%d: %q, want %q", most, got, want)
		}
	}
}
