package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
)

const digest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func TestSetImageReplacesImagesByNameOrLastPart(t *testing.T) {
	it := gomega.NewWithT(t)
	objects, err := build("testdata/app", []string{
		"registry.example.com/app=localhost:5001/app:dev",
		"proxy=registry.example.com/proxy@" + digest, // the digest replaces the tag
		"memcached=localhost:5001/memcached:dev",     // an image in an environment variable
	})
	it.Expect(err).NotTo(gomega.HaveOccurred())
	content, err := json.Marshal(objects)
	it.Expect(err).NotTo(gomega.HaveOccurred())
	got := regexp.MustCompile(`"(registry.example.com|localhost:5001)/[^"]*"`).FindAllString(string(content), -1)
	slices.Sort(got)
	want := []string{
		`"localhost:5001/app:dev"`, `"localhost:5001/memcached:dev"`, `"registry.example.com/proxy@` + digest + `"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
}

func TestSetImageRefuses(t *testing.T) {
	const manifests = "- image: a.example.com/twin:1\n  image: b.example.com:5000/twin:1\n  value: registry.example.com/app:1\n"
	for name, tc := range map[string]struct{ arg, want string }{
		"an argument without a reference":   {"app", "NAME=REF"},
		"an invalid reference":              {"app=UPPER case", "UPPER case"},
		"a digest without a name":           {"app=@" + digest, "NAME=REF"},
		"a name that no container has":      {"example.com/app=b:1", "0 images have that name"},
		"a fragment of the last part":       {"pp=b:1", "0 images have that name"},
		"a last part that two images share": {"twin=b:1", "2 images have that name: write the full name of one of them: a.example.com/twin, b.example.com:5000/twin"},
	} {
		if _, err := setImage([]byte(manifests), tc.arg); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v does not contain %q", name, err, tc.want)
		}
	}
}
