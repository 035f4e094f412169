package values

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/internal/testing/tree"
)

// digest is the digest of the catalog's image in the shipped file.
const digest = "sha256:3baeeb499e8da437ddb9f7742cd7dbf1c25fc54237f0b3ce540e3b2559290b53"

// shipped returns the folder of a repository with the settings as they are shipped. It does not use the settings in
// gitops/, because a user may have changed them.
func shipped(t *testing.T) string {
	t.Helper()
	content := page.Read(t, "testdata/settings.yaml")
	dir := t.TempDir()
	tree.Write(t, dir, map[string]string{Path: content})
	return dir
}

func TestSettingsAreComplete(t *testing.T) {
	if _, err := Read("../../.."); err != nil {
		t.Error(err)
	}
	incomplete := t.TempDir()
	tree.Write(t, incomplete, map[string]string{Path: "data: {repoURL: x}\n"})
	for dir, want := range map[string]string{t.TempDir(): Path + " does not exist", incomplete: Path + ": data.revision is missing"} {
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v has no %q", err, want)
		}
	}
}

func TestImagesOfExampleComAreExamples(t *testing.T) {
	if !IsExample("registry.example.com/a@"+digest) || IsExample("notexample.com/a") || IsExample("a.test/example.com") {
		t.Error("an image of example.com is no example, or another one is")
	}
}

// good returns choices without a problem, after the function of a case has changed one of them.
func good(change func(*Choices)) Choices {
	c := Choices{Repo: "https://git.acme.test/team/operator.git", Revision: "main", Registry: "registry.acme.test/team"}
	change(&c)
	return c
}

func TestChoicesReplaceSettingsAndKeepTheOthers(t *testing.T) {
	for name, choices := range map[string]Choices{
		"only-required": good(func(*Choices) {}),
		"all": {
			Repo: "file:///srv/git/demo.git", Revision: "1.20", Registry: "localhost:5001", Version: "dev", Architecture: "multiarch",
			MemcachedImage: "localhost:5001/memcached:dev", AgentImage: "localhost:5001/agent:dev",
			ArgoCDNamespace: "openshift-gitops", CatalogImage: "localhost:5001/catalog@" + digest,
		},
	} {
		dir := shipped(t)
		before, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		after, err := choices.Resolve(before)
		if err := errors.Join(err, Edit(dir, func(s *Settings) { *s = after })); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(page.Read(t, "testdata/"+name+".yaml"), tree.Read(t, dir)[Path]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestChoicesThatAreRefused(t *testing.T) {
	tests := map[string]struct {
		change func(*Choices)
		want   []string // flag, value and fix
	}{
		"no repository":                       {func(c *Choices) { c.Repo = "" }, []string{"--repo", "is named", "https://"}},
		"a path instead of a URL":             {func(c *Choices) { c.Repo = "../repo" }, []string{"--repo", `"../repo"`, "file:///"}},
		"a scheme that Git does not know":     {func(c *Choices) { c.Repo = "ftp://a.b/c" }, []string{"--repo", "ftp://a.b/c", "https://"}},
		"a URL without a path":                {func(c *Choices) { c.Repo = "https://git.acme.test" }, []string{"has no host or no path"}},
		"a relative file URL":                 {func(c *Choices) { c.Repo = "file://repo" }, []string{"file:///path"}},
		"a password, which is not repeated":   {func(c *Choices) { c.Repo = "https://u:hidden@a.b/c" }, []string{"u:xxxxx@", "repository Secret"}},
		"plain http over the internet":        {func(c *Choices) { c.Repo = "http://git.acme.test/a.git" }, []string{"use https or ssh"}},
		"no revision":                         {func(c *Choices) { c.Revision = "" }, []string{"--revision", "Git allows", "main"}},
		"a revision with a space":             {func(c *Choices) { c.Revision = "my branch" }, []string{`"my branch"`, "Git allows"}},
		"a revision that is an option":        {func(c *Choices) { c.Revision = "--force" }, []string{`"--force"`, "Git allows"}},
		"a range of revisions":                {func(c *Choices) { c.Revision = "a..b" }, []string{`"a..b"`, "Git allows"}},
		"no registry":                         {func(c *Choices) { c.Registry = "" }, []string{"--registry", "localhost:5001"}},
		"a registry that is a URL":            {func(c *Choices) { c.Registry = "https://a.b" }, []string{"leave out the scheme"}},
		"a registry without a host":           {func(c *Choices) { c.Registry = "acme" }, []string{`"acme"`, "docker.io/ACCOUNT"}},
		"a registry in capitals":              {func(c *Choices) { c.Registry = "a.b/Team" }, []string{`"a.b/Team"`, "can only contain"}},
		"a version that is no tag":            {func(c *Choices) { c.Version = "a b" }, []string{"--version", `"a b"`, "0.1.0"}},
		"an architecture without an overlay":  {func(c *Choices) { c.Architecture = "riscv64" }, []string{"riscv64", "amd64, arm64, ppc64le, s390x, multiarch"}},
		"a memcached image that is none":      {func(c *Choices) { c.MemcachedImage = "Mem cached" }, []string{"--memcached-image", "docker.io/library"}},
		"an agent's image that is none":       {func(c *Choices) { c.AgentImage = "Agent" }, []string{"--agent-image", `"Agent"`, "memcached-agent:0.1.0"}},
		"an image for snapshots that is none": {func(c *Choices) { c.SnapshotImage = "Snapshot" }, []string{"--snapshot-image", `"Snapshot"`, "memcached-snapshot:0.1.0"}},
		"an Argo CD in no namespace":          {func(c *Choices) { c.ArgoCDNamespace = "Argo CD" }, []string{"--argocd-namespace", "Argo CD"}},
		"a catalog by tag":                    {func(c *Choices) { c.CatalogImage = "a.b/c:v1" }, []string{"--catalog-image", "a.b/c:v1", "by digest"}},
		"several, all of them named":          {func(c *Choices) { c.Repo, c.Revision, c.Registry = "x", "", "y" }, []string{"--repo", "--revision", "--registry"}},
	}
	current, err := Read(shipped(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := good(tc.change).Resolve(current)
			for _, want := range tc.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v does not contain %q", err, want)
				}
			}
		})
	}
	for _, repo := range []string{
		"https://git.acme.test/a.git", "ssh://git@git.acme.test:2222/a.git", "git@git.acme.test:team/a.git",
		"file:///srv/a.git", "http://10.0.0.1:8080/a.git", "git://127.0.0.1/a.git",
	} {
		if err := ValidateRepo("repo", repo); err != nil {
			t.Error(err)
		}
	}
}

func TestTheAgentKeepsItsVersion(t *testing.T) {
	const here = "registry.acme.test/team"
	for name, tc := range map[string]struct{ current, want string }{
		"in another registry it keeps its tag":     {"registry.example.com/memcached-agent:0.3.0", here + "/memcached-agent:0.3.0"},
		"and loses the digest of its registry":     {"registry.example.com/memcached-agent:0.3.0@" + digest, here + "/memcached-agent:0.3.0"},
		"but not where it has a digest only":       {"registry.example.com/memcached-agent@" + digest, here + "/memcached-agent@" + digest},
		"in the same registry it keeps its digest": {here + "/memcached-agent:0.3.0@" + digest, here + "/memcached-agent:0.3.0@" + digest},
	} {
		if got := agentImage(here, tc.current); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}
