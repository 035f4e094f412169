package values

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shipped is the settings file as the repository ships it. The one in gitops/ may have been
// changed by whoever runs these tests, as it is meant to be.
const shipped = "testdata/settings.yaml"

// digest is that of the catalog in the shipped file.
const digest = "sha256:3baeeb499e8da437ddb9f7742cd7dbf1c25fc54237f0b3ce540e3b2559290b53"

func TestTheFileInUseIsComplete(t *testing.T) {
	if _, err := Load("../../../" + Path); err != nil {
		t.Error(err)
	}
}

// good is a set of choices with nothing to complain about; cases change one of them.
func good(change func(*Choices)) Choices {
	c := Choices{
		Repo: "https://git.acme.test/team/operator.git", Revision: "main", Registry: "registry.acme.test/team",
	}
	if change != nil {
		change(&c)
	}
	return c
}

func TestInitReplacesValuesAndNothingElse(t *testing.T) {
	tests := map[string]struct {
		choices Choices
		want    Settings
	}{
		"versions and memcached image stay when none is named": {
			choices: good(nil),
			want: Settings{
				RepoURL: "https://git.acme.test/team/operator.git", Revision: "main", Architecture: "amd64",
				ArgoCDNamespace: "argocd",
				OperatorImage:   "registry.acme.test/team/memcached-operator:0.1.0",
				AgentImage:      "registry.acme.test/team/memcached-agent:0.1.0",
				MemcachedImage:  "docker.io/library/memcached:1.6.45",
				CatalogImage:    "registry.acme.test/team/memcached-operator-catalog@" + digest,
			},
		},
		"all is named": {
			choices: Choices{
				Repo: "file:///srv/git/demo.git", Revision: "v2", Registry: "localhost:5001",
				Version: "dev", Architecture: "multiarch", MemcachedImage: "localhost:5001/memcached:dev",
				AgentImage:      "localhost:5001/agent:dev",
				ArgoCDNamespace: "openshift-gitops", CatalogImage: "localhost:5001/catalog@" + digest,
			},
			want: Settings{
				RepoURL: "file:///srv/git/demo.git", Revision: "v2", Architecture: "multiarch",
				ArgoCDNamespace: "openshift-gitops",
				OperatorImage:   "localhost:5001/memcached-operator:dev", MemcachedImage: "localhost:5001/memcached:dev",
				AgentImage: "localhost:5001/agent:dev", CatalogImage: "localhost:5001/catalog@" + digest,
			},
		},
		"a revision that looks like a number stays a string": {
			choices: good(func(c *Choices) { c.Revision = "1.20" }),
			want: Settings{
				RepoURL: "https://git.acme.test/team/operator.git", Revision: "1.20", Architecture: "amd64",
				ArgoCDNamespace: "argocd",
				OperatorImage:   "registry.acme.test/team/memcached-operator:0.1.0",
				AgentImage:      "registry.acme.test/team/memcached-agent:0.1.0",
				MemcachedImage:  "docker.io/library/memcached:1.6.45",
				CatalogImage:    "registry.acme.test/team/memcached-operator-catalog@" + digest,
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			path := copyOf(t, shipped)
			f, err := Load(path)
			if err != nil {
				t.Fatal(err)
			}
			before, err := f.Settings()
			if err != nil {
				t.Fatal(err)
			}
			if changed, err := f.Init(tc.choices); err != nil || !changed {
				t.Fatalf("changed: %v, error: %v", changed, err)
			}
			if diff := cmp.Diff(replaced(t, shipped, before, tc.want), read(t, path)); diff != "" {
				t.Errorf("the file (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInitWithTheValuesThatAreThereLeavesTheFileAlone(t *testing.T) {
	path := copyOf(t, shipped)
	for round, want := range []bool{true, false} {
		f, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if changed, err := f.Init(good(nil)); err != nil || changed != want {
			t.Errorf("round %d: changed: %v, error: %v", round, changed, err)
		}
	}
}

func TestInitRefusesBeforeItWrites(t *testing.T) {
	tests := map[string]struct {
		change func(*Choices)
		want   []string // flag, value and remedy, as the error has them
	}{
		"no repository":                      {func(c *Choices) { c.Repo = "" }, []string{"--repo", "is named", "https://"}},
		"a path instead of a URL":            {func(c *Choices) { c.Repo = "../repo" }, []string{"--repo", `"../repo"`, "file:///"}},
		"a scheme that Git does not know":    {func(c *Choices) { c.Repo = "ftp://a.b/c" }, []string{"--repo", "ftp://a.b/c", "https://"}},
		"a URL without a path":               {func(c *Choices) { c.Repo = "https://git.acme.test" }, []string{"lacks a host or a path"}},
		"a relative file URL":                {func(c *Choices) { c.Repo = "file://repo" }, []string{"file:///path"}},
		"a password, which is not repeated":  {func(c *Choices) { c.Repo = "https://u:hidden@a.b/c" }, []string{"u:xxxxx@", "repository Secret"}},
		"plain http over the internet":       {func(c *Choices) { c.Repo = "http://git.acme.test/a.git" }, []string{"use https or ssh"}},
		"no revision":                        {func(c *Choices) { c.Revision = "" }, []string{"--revision", "is empty", "main"}},
		"a revision with a space":            {func(c *Choices) { c.Revision = "my branch" }, []string{`"my branch"`, "Git allows"}},
		"a revision that is an option":       {func(c *Choices) { c.Revision = "--force" }, []string{`"--force"`, "Git allows"}},
		"a range of revisions":               {func(c *Choices) { c.Revision = "a..b" }, []string{`"a..b"`, "Git allows"}},
		"no registry":                        {func(c *Choices) { c.Registry = "" }, []string{"--registry", "names no host"}},
		"a registry that is a URL":           {func(c *Choices) { c.Registry = "https://a.b" }, []string{"leave out the scheme"}},
		"a registry without a host":          {func(c *Choices) { c.Registry = "acme" }, []string{`"acme"`, "docker.io/ACCOUNT"}},
		"a registry in capitals":             {func(c *Choices) { c.Registry = "a.b/Team" }, []string{`"a.b/Team"`, "must be lowercase"}},
		"a version that is no tag":           {func(c *Choices) { c.Version = "a b" }, []string{"--version", `"a b"`, "0.1.0"}},
		"an architecture without an overlay": {func(c *Choices) { c.Architecture = "riscv64" }, []string{"--architecture", "riscv64", "amd64, arm64, ppc64le, s390x, multiarch"}},
		"a memcached image that is none":     {func(c *Choices) { c.MemcachedImage = "Mem cached" }, []string{"--memcached-image", "docker.io/library"}},
		"an agent's image that is none":      {func(c *Choices) { c.AgentImage = "Agent" }, []string{"--agent-image", `"Agent"`, "memcached-agent:0.1.0"}},
		"an Argo CD in no namespace":         {func(c *Choices) { c.ArgoCDNamespace = "Argo CD" }, []string{"--argocd-namespace", "Argo CD"}},
		"a catalog by tag":                   {func(c *Choices) { c.CatalogImage = "a.b/c:v1" }, []string{"--catalog-image", "a.b/c:v1", "has no digest"}},
		"a catalog that is none":             {func(c *Choices) { c.CatalogImage = "C C" }, []string{"--catalog-image", "C C", "sha256"}},
		"several mistakes, all of them said": {
			func(c *Choices) { c.Repo, c.Revision, c.Registry = "x", "", "y" },
			[]string{"--repo", "--revision", "--registry"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			path := copyOf(t, shipped)
			f, err := Load(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.Init(good(tc.change))
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if diff := cmp.Diff(read(t, shipped), read(t, path)); diff != "" {
				t.Errorf("the file was written:\n%s", diff)
			}
		})
	}
}

func TestInitTakesEveryFormOfRepository(t *testing.T) {
	for _, repo := range []string{
		"https://git.acme.test/a.git", "ssh://git@git.acme.test:2222/a.git", "git@git.acme.test:team/a.git",
		"file:///srv/a.git", "http://10.0.0.1:8080/a.git", "git://127.0.0.1/a.git",
	} {
		if err := validateRepo(repo); err != nil {
			t.Error(err)
		}
	}
}

func TestTheAgentStaysWhatItIs(t *testing.T) {
	const here = "registry.acme.test/team"
	tests := map[string]struct{ current, want string }{
		"in another registry it keeps its tag":     {"registry.example.com/memcached-agent:0.3.0", here + "/memcached-agent:0.3.0"},
		"and loses a digest that it had there":     {"registry.example.com/memcached-agent:0.3.0@" + digest, here + "/memcached-agent:0.3.0"},
		"but not where that is all that it has":    {"registry.example.com/memcached-agent@" + digest, here + "/memcached-agent@" + digest},
		"in the same registry it keeps its digest": {here + "/memcached-agent:0.3.0@" + digest, here + "/memcached-agent:0.3.0@" + digest},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			current := Settings{OperatorImage: "registry.example.com/memcached-operator:0.1.0", AgentImage: tc.current}
			got, _ := good(func(c *Choices) { c.Version = "0.9.0" }).Resolve(current) // What else is missing is not of interest.
			if got.AgentImage != tc.want {
				t.Errorf("%s, want %s", got.AgentImage, tc.want)
			}
		})
	}
}

// replaced is the text of a file with old values replaced by new ones, and not one byte else.
func replaced(t *testing.T, path string, before, after Settings) string {
	t.Helper()
	var pairs []string
	olds, news := before.fields(), after.fields()
	for key, old := range olds {
		value := *news[key]
		if value == "1.20" {
			value = `"1.20"`
		}
		pairs = append(pairs, key+": "+*old+"\n", key+": "+value+"\n")
	}
	return strings.NewReplacer(pairs...).Replace(read(t, path))
}

func copyOf(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "settings.yaml")
	if err := os.WriteFile(to, []byte(read(t, path)), 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
