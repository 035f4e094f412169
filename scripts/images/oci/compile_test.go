package oci

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// What is built together has to have the digests of what is built alone: demo, tests and releases build in both ways.
func TestProgramsBuiltTogetherAreThoseBuiltAlone(t *testing.T) {
	t.Setenv("GOFLAGS", "-tags=other")
	t.Setenv("GOAMD64", "v3")
	agent, _, err := Agent("../../..")
	if err != nil {
		t.Fatal(err)
	}
	pause := Program{Dir: agent.Dir, Package: "./scripts/images/pause", LDFlags: "-X main.version=1"}
	together, err := BuildTogether(t.Context(), []v1.Platform{Host()}, func(string) {}, pause, agent)
	if err != nil {
		t.Fatal(err)
	}
	for i, program := range []Program{pause, agent} {
		image, err := program.Build(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		alone, err := Index(image)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(indexDigest(t, alone), indexDigest(t, together[i])); diff != "" {
			t.Errorf("digest of %s (-alone +together):\n%s", program.Package, diff)
		}
	}
}

func indexDigest(t *testing.T, index v1.ImageIndex) string {
	t.Helper()
	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest.String()
}
