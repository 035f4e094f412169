package gitops

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/internal/testing/tree"
	"github.com/example-inc/memcached-operator/scripts/kustomize"
	"github.com/example-inc/memcached-operator/scripts/settings/consumer"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

var update = flag.Bool("update", false, "write the golden files again")

const (
	root     = "../.."
	template = root + "/" + consumer.Template
	upstream = "https://git.example.com/team/memcached-operator.git"
)

// choices returns the choices of a user in gitops-init, with the values of the template.
func choices() consumer.Repository {
	return consumer.Repository{
		Choices: values.Choices{
			Repo: "https://git.example.com/team/config.git", Revision: "main", Registry: "registry.example.com/team", Version: "0.1.0",
		},
		Method: "direct", Upstream: upstream,
	}
}

// shipped makes a Git repository of the files that users install, with the original settings and the tag v0.1.0.
func shipped(t *testing.T) string {
	t.Helper()
	dir := tree.Copy(t, root, "gitops", "overlays", "operator/config", "bundle")
	settings := page.Read(t, filepath.Join(root, "scripts/settings/values/testdata/settings.yaml"))
	tree.Write(t, dir, map[string]string{values.Path: settings})
	tree.Git(t, dir, "init", "--quiet")
	commit(t, dir, "v0.1.0")
	return dir
}

func commit(t *testing.T, dir, tag string) {
	t.Helper()
	tree.Git(t, dir, "add", "--all")
	tree.Git(t, dir, "-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message", tag)
	tree.Git(t, dir, "tag", tag)
}

// written makes a consumer's repository with these choices.
func written(t *testing.T, from string, r consumer.Repository) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "config")
	if err := r.Write(from, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// edit replaces each match of a regular expression in a file.
func edit(t *testing.T, dir, file, pattern, with string) {
	t.Helper()
	expression, text := regexp.MustCompile(pattern), tree.Read(t, dir)[file]
	if !expression.MatchString(text) {
		t.Fatalf("%s holds nothing that matches %s", file, pattern)
	}
	tree.Write(t, dir, map[string]string{file: expression.ReplaceAllString(text, with)})
}

var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "gitops-")
	if err != nil {
		return "", err
	}
	command := exec.Command("go", "build", "-o", dir+"/gitops", ".")
	command.Dir = root + "/scripts/gitops"
	out, err := command.CombinedOutput()
	return dir + "/gitops" + strings.TrimSpace(string(out)), err
})

// gitops runs scripts/gitops on a folder, with a checkout of the operator's repository.
func gitops(t *testing.T, command, dir, checkout string, args ...string) (string, error) {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatalf("%v: %s", err, path)
	}
	run := exec.CommandContext(t.Context(), path, append([]string{command, "--dir", dir, "--repository", upstream + "=" + checkout}, args...)...)
	run.Dir = root
	out, err := run.CombinedOutput()
	return string(out), err
}

func TestTheTemplateIsWhatGitopsInitWrites(t *testing.T) {
	want := tree.Read(t, template)
	r := choices()
	r.Ref = regexp.MustCompile(`\?ref=(\S+)`).FindStringSubmatch(want["kustomization.yaml"])[1]
	dir := written(t, shipped(t), r)
	got := tree.Read(t, dir)
	if *update {
		tree.Write(t, template, got)
		want = got
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("go test ./test/gitops -update writes it (-want +got):\n%s", diff)
	}
	if len(got) > 10 {
		t.Errorf("a consumer's repository has %d files", len(got))
	}
}

// TestAConsumerInstallsByEachMethod checks that the files that gitops-init writes have no errors, and contain the
// user's choices.
func TestAConsumerInstallsByEachMethod(t *testing.T) {
	checkout := shipped(t)
	tests := map[string]struct {
		change func(*consumer.Repository)
		want   []string // texts in the output of the command plan
	}{
		"direct": {func(*consumer.Repository) {}, []string{"direct on amd64", "image registry.example.com/team/memcached-operator:0.1.0"}},
		"direct on all architectures, with its own agent": {func(r *consumer.Repository) {
			r.Architecture, r.AgentImage = "multiarch", "registry.acme.test/agent:9"
		}, []string{"direct on multiarch", "overlays/multiarch", "image registry.acme.test/agent:9"}},
		"olm on another architecture": {func(r *consumer.Repository) { r.Method, r.Architecture = "olm", "s390x" },
			[]string{"olm on s390x", "image registry.example.com/team/memcached-operator-catalog@sha256:", "image quay.io/operator-framework/olm"}},
		"openshift, where Argo CD has another namespace": {func(r *consumer.Repository) {
			r.Method, r.Architecture, r.ArgoCDNamespace = "openshift", "multiarch", "openshift-gitops"
		}, []string{"openshift on multiarch", "openshift-gitops/memcached-root", "image registry.example.com/team/memcached-agent:"}},
		"olm-v1, with its own memcached image": {func(r *consumer.Repository) { r.Method, r.MemcachedImage = "olm-v1", "registry.acme.test/memcached:2" },
			[]string{"ClusterExtension", "cert-manager"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := choices()
			tc.change(&r)
			dir := written(t, checkout, r)
			if out, err := gitops(t, "verify", dir, checkout); err != nil || !strings.HasPrefix(out, "0 errors, 0 warnings") {
				t.Errorf("%v\n%s", err, out)
			}
			out, err := gitops(t, "plan", dir, checkout)
			for _, want := range tc.want {
				if err != nil || !strings.Contains(out, want) {
					t.Errorf("%v: %q is missing in:\n%s", err, want, out)
				}
			}
		})
	}
}

// TestAnUpgradeIsOneRef: the operator's repository has two tags, and a commit in the consumer's repository changes the
// ref from one to the other.
func TestAnUpgradeIsOneRef(t *testing.T) {
	checkout := shipped(t)
	for _, file := range []string{values.Path, "operator/config/manager/manager.yaml"} {
		edit(t, checkout, file, `memcached-operator:\S+`, "memcached-operator:0.2.0")
		edit(t, checkout, file, `memcached:1\S+`, "memcached:1.9.9")
	}
	edit(t, checkout, "gitops/settings/policy.yaml", `limit: 8`, "limit: 9")
	commit(t, checkout, "v0.2.0")
	dir := written(t, checkout, choices())
	tree.Git(t, dir, "init", "--quiet")
	commit(t, dir, "before")

	edit(t, dir, "kustomization.yaml", `\?ref=v0\.1\.0`, "?ref=v0.2.0")
	if changed := tree.Git(t, dir, "diff", "--numstat"); changed != "1\t1\tkustomization.yaml" {
		t.Errorf("an upgrade changes %s", changed)
	}
	plan := func(args ...string) string {
		out, err := gitops(t, "plan", dir, checkout, args...)
		if err != nil {
			t.Fatal(err, out)
		}
		return out
	}
	page.Golden(t, "testdata/upgrade.md", plan("--diff", "HEAD", "-o", "markdown"), *update)
	// All objects that Argo CD would apply are of the new ref.
	build, err := kustomize.Build(local(t, dir, checkout))
	if err != nil {
		t.Fatal(err)
	}
	for _, resource := range build.Resources() {
		got, _ := resource.GetFieldValue("spec.source.targetRevision")
		want := map[bool]string{true: "main", false: "v0.2.0"}[resource.GetName() == "memcached-caches"]
		if got != want {
			t.Errorf("%s follows %q, want %q", resource.GetName(), got, want)
		}
	}

	// Together with the upgrade, the cache sessions gets one more Pod, which replaces none, and the cache pages is
	// created. Then sessions gets more memory.
	tree.Write(t, dir, map[string]string{"caches/pages.yaml": "apiVersion: cache.example.com/v1\nkind: Memcached\nmetadata: {name: pages}\n"})
	edit(t, dir, "caches/kustomization.yaml", `  - sessions.yaml`, "  - sessions.yaml\n  - pages.yaml")
	edit(t, dir, "caches/sessions.yaml", `size: 3`, "size: 4")
	if out := plan("--diff", "HEAD"); !regexp.MustCompile(`Pods of caches/sessions kept .*stays pending: image \S+ -> \S+memcached:1\.9\.9`).MatchString(out) ||
		!strings.Contains(out, "Pods of caches/pages created") {
		t.Errorf("another size, and a new cache:\n%s", out)
	}
	edit(t, dir, "caches/sessions.yaml", `256Mi`, "512Mi")
	page.Golden(t, "testdata/replaced.md", plan("--diff", "HEAD", "-o", "markdown"), *update)

	tree.Git(t, dir, "checkout", "--quiet", "--", ".")
	if out := plan("--diff", "HEAD"); !strings.Contains(out, "0 added, 0 changed, 0 removed") {
		t.Errorf("a revert leaves:\n%s", out)
	}
}

// local makes a copy of a consumer's repository that refers to a checkout instead of the URL.
func local(t *testing.T, dir, checkout string) string {
	t.Helper()
	copied, files := t.TempDir(), tree.Read(t, dir)
	for name := range files {
		files[name] = strings.ReplaceAll(files[name], upstream+"//", "file://"+checkout+"//")
	}
	tree.Write(t, copied, files)
	return copied
}

func TestMistakesInAConsumersRepository(t *testing.T) {
	checkout := shipped(t)
	const apps, bootstrap = "kustomization.yaml", "bootstrap.yaml"
	tests := map[string]struct{ file, pattern, with, want string }{
		"a ref that moves":                      {apps, `\?ref=v0\.1\.0`, "?ref=HEAD", "?ref=HEAD is not pinned"},
		"a ref that the checkout does not have": {apps, `\?ref=v0\.1\.0`, "?ref=v9.9.9", "fetch this ref in the checkout"},
		"no operator's repository":              {apps, `  - https.*`, "  - caches", "restore the line from Git"},
		"a right that the operator needs":       {bootstrap, `  - group: apps\n    kind: Deployment\n`, "", "its namespaceResourceWhitelist does not have"},
		"a right to the operator's repository":  {bootstrap, `- ` + upstream, "- https://git.example.com/other.git", "is not in its sourceRepos"},
		"another cluster, by name":              {apps, `(- \{op: replace, path: /spec/source/path, value: caches\})`, "$1\n      - {op: remove, path: /spec/destination/server}\n      - {op: add, path: /spec/destination/name, value: other}", "names another cluster"},
		"caches from a chart":                   {apps, `(- \{op: replace, path: /spec/source/path, value: caches\})`, "$1\n      - {op: add, path: /spec/source/helm, value: {}}", "Helm chart"},
		"an Application of another branch":      {apps, `(/spec/source/targetRevision, value: )"main"`, "${1}other", `spec.source.targetRevision is "other"`},
		"caches in a namespace of others":       {"caches/kustomization.yaml", `namespace: caches`, "namespace: kube-system", `namespace "kube-system"`},
		"a field that caches do not have":       {"caches/sessions.yaml", `size: 3`, "replicas: 3", "spec.replicas"},
		"a namespace that takes its caches":     {"caches/namespace.yaml", `Prune=false,`, "", "the caches in it"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := written(t, checkout, choices())
			edit(t, dir, tc.file, tc.pattern, tc.with)
			if out, err := gitops(t, "verify", dir, checkout); err == nil || !strings.Contains(out, tc.want) {
				t.Errorf("%q is missing in:\n%s", tc.want, out)
			}
		})
	}
}

func TestChoicesThatGitopsInitRefuses(t *testing.T) {
	full := t.TempDir()
	tree.Write(t, full, map[string]string{"a": "b"})
	for name, tc := range map[string]struct {
		change func(*consumer.Repository)
		out    string
		want   string
	}{
		"an unknown install method": {func(r *consumer.Repository) { r.Method = "helm" }, "", `--method "helm": choose one of direct`},
		"a ref with a space":        {func(r *consumer.Repository) { r.Ref = "a b" }, "", `--ref "a b"`},
		"a path for a URL":          {func(r *consumer.Repository) { r.Upstream = "../x" }, "", `--upstream "../x"`},
		"no registry":               {func(r *consumer.Repository) { r.Registry = "" }, "", "--registry"},
		"a folder that is in use":   {func(*consumer.Repository) {}, full, "holds a: name a new or an empty folder"},
	} {
		r := choices()
		tc.change(&r)
		out := tc.out
		if out == "" {
			out = filepath.Join(t.TempDir(), "config")
		}
		if err := r.Write(root, out); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v has no %q", name, err, tc.want)
		}
	}
}
