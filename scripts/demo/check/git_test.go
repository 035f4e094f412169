package check

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/scripts/demo/target"
)

// repository is a bare repository. Each branch is made of the working tree with a change, by a commit with a message.
func repository(t *testing.T, s *Subject, branch, message string, change func(dir string)) {
	t.Helper()
	dir := t.TempDir()
	command(t, dir, "init", "--quiet", "--bare", "--initial-branch=main")
	s.Repo = "file://" + dir
	if branch == "" {
		return
	}
	work := t.TempDir()
	command(t, work, "clone", "--quiet", s.Repo, ".")
	command(t, work, "checkout", "--quiet", "-B", branch)
	if err := target.Replace(s.Root, work); err != nil {
		t.Fatal(err)
	}
	change(work)
	command(t, work, "add", "--all", "--force")
	command(t, work, "commit", "--quiet", "--message", message)
	command(t, work, "push", "--quiet", "origin", branch)
}

// withoutCluster is a subject whose working tree holds a file in each folder that is published.
func withoutCluster(t *testing.T, way target.Way) *Subject {
	t.Helper()
	s := &Subject{
		Options: target.Options{Way: way, Revision: target.Branch},
		Root:    t.TempDir(), Clone: filepath.Join(t.TempDir(), "clone"),
	}
	for _, name := range append(target.Published(), "gitops/samples", "gitops/settings") {
		writes(t, name+"/"+path.Base(name)+".yaml", name)(s.Root)
	}
	return s
}

func command(t *testing.T, dir string, args ...string) {
	t.Helper()
	git := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	git.Dir = dir
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func writes(t *testing.T, name, content string) func(dir string) {
	return func(dir string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheGitRepository(t *testing.T) {
	nothing := func(string) {}
	ofTheDemo := "Install\n\n" + Trailer
	tests := map[string]struct {
		branch, message string
		change          func(dir string)
		revision        string
		way             target.Way
		status          Status
		words           []string
	}{
		"gets a new branch":                                    {"", "", nil, "demo", target.Direct, Passed, []string{"new branch demo"}},
		"gets a new branch beside any other":                   {"main", "Ours", writes(t, "gitops/ours.yaml", "x"), "demo", target.Direct, Passed, []string{"new branch demo"}},
		"has the branch, as the working tree is":               {"main", "Ours", nothing, "main", target.Direct, Passed, []string{"on top of the branch main"}},
		"has the branch, with other settings":                  {"main", "Ours", writes(t, "gitops/settings/settings.yaml", "x"), "main", target.Direct, Passed, []string{"on top"}},
		"has the branch, with a file that would be lost":       {"main", "Ours", writes(t, "gitops/samples/ours.yaml", "x"), "main", target.Direct, Failed, []string{"would replace: gitops/samples/ours.yaml", "--revision"}},
		"has the branch, with a file that would be replaced":   {"main", "Ours", writes(t, "gitops/samples/samples.yaml", "x"), "main", target.Direct, Failed, []string{"gitops/samples/samples.yaml"}},
		"has the branch, with files that nobody touches":       {"main", "Ours", writes(t, "charts/ours.yaml", "x"), "main", target.Direct, Passed, []string{"on top"}},
		"has the branch, with a bundle that would be replaced": {"main", "Ours", nothing, "main", target.OLM, Failed, []string{"bundle/"}},
		"has the branch of an earlier demo":                    {"demo", ofTheDemo, writes(t, "gitops/samples/old.yaml", "x"), "demo", target.OLM, Passed, []string{"on top of the branch demo"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := withoutCluster(t, tc.way)
			s.Revision = tc.revision
			repository(t, s, tc.branch, tc.message, tc.change)
			before := refs(t, s.Repo)
			expect(t, git(t.Context(), s), tc.status, tc.words...)
			if diff := cmp.Diff(before, refs(t, s.Repo)); diff != "" {
				t.Errorf("the repository has changed:\n%s", diff)
			}
		})
	}
}

func refs(t *testing.T, url string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "ls-remote", url).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestAGitRepositoryThatCannotBeUsed(t *testing.T) {
	t.Run("because a tag has the name", func(t *testing.T) {
		s := withoutCluster(t, target.Direct)
		repository(t, s, "main", "Ours", func(string) {})
		command(t, strings.TrimPrefix(s.Repo, "file://"), "tag", "v1", "main")
		s.Revision = "v1"
		expect(t, git(t.Context(), s), Failed, "has a tag v1", "--revision")
	})
	t.Run("because it is not there", func(t *testing.T) {
		s := withoutCluster(t, target.Direct)
		s.Repo = "file:///nowhere"
		expect(t, git(t.Context(), s), Failed, "/nowhere", "git ls-remote")
	})
}

func TestArgoCDReadsTheRepository(t *testing.T) {
	private := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer private.Close()
	public := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		_, _ = w.Write([]byte("001e# service=git-upload-pack\n00000000"))
	}))
	defer public.Close()
	tests := map[string]struct {
		repo       string
		kind, url  string // of the Secret that there is
		status     Status
		words      []string
		otherSpace bool
	}{
		"from a path":                           {repo: "file:///repo.git", status: Warning, words: []string{"repo-server must see the same path"}},
		"as everybody can":                      {repo: public.URL + "/x.git", status: Passed, words: []string{"everybody"}},
		"not, without a login":                  {repo: private.URL + "/x.git", status: Failed, words: []string{"no Secret", "argocd repo add " + private.URL}},
		"by the Secret of the repository":       {repo: private.URL + "/x.git", kind: "repository", url: private.URL + "/X", status: Passed, words: []string{"by the Secret login"}},
		"not by the Secret of another":          {repo: private.URL + "/x.git", kind: "repository", url: private.URL, status: Failed},
		"by credentials for all below":          {repo: private.URL + "/team/x.git", kind: "repo-creds", url: private.URL + "/team", status: Passed, words: []string{"login"}},
		"not by credentials for something else": {repo: private.URL + "/team/x.git", kind: "repo-creds", url: private.URL + "/other", status: Failed},
		"not by credentials for nothing":        {repo: private.URL + "/team/x.git", kind: "repo-creds", url: "", status: Failed},
		"not by a Secret elsewhere":             {repo: private.URL + "/x.git", kind: "repository", url: private.URL + "/x.git", otherSpace: true, status: Failed},
		"not by SSH without a key":              {repo: "git@git.example.org:team/x.git", status: Failed, words: []string{"no Secret"}},
		"by SSH, its URL written otherwise":     {repo: "git@git.example.org:team/x.git", kind: "repository", url: "ssh://git@git.example.org/team/x", status: Passed},
		"perhaps, if it answers":                {repo: "http://127.0.0.1:1/x.git", status: Warning, words: []string{"127.0.0.1", "if it needs a login"}},
	}
	namespace(t, "argocd")
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := subject(t, target.Direct)
			s.ArgoCDNamespace, s.Repo = "argocd", tc.repo
			if tc.kind != "" {
				secret := &corev1.Secret{
					ObjectMeta: metav1.ObjectMeta{
						Namespace: "argocd", Name: "login",
						Labels: map[string]string{"argocd.argoproj.io/secret-type": tc.kind},
					},
					Data: map[string][]byte{"url": []byte(tc.url)},
				}
				if tc.otherSpace {
					secret.Namespace = "default"
				}
				create(t, secret)
			}
			expect(t, gitLogin(t.Context(), s), tc.status, tc.words...)
		})
	}
	t.Run("who may not list Secrets is told what to look for", func(t *testing.T) {
		s := subjectOf(t, target.Direct, "guest")
		s.ArgoCDNamespace, s.Repo = "argocd", private.URL+"/x.git"
		expect(t, gitLogin(t.Context(), s), Warning, "may not list the Secrets in argocd", "argocd repo add")
	})
}

func TestLongListsAreAbridged(t *testing.T) {
	if got, want := abridge(strings.Split("abcdefg", "")), "a, b, c, d, e and 2 more"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
