package bundle

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

const root = "../../.."

func TestWhatAnOptionChanges(t *testing.T) {
	tests := map[string]struct {
		change func(*Options)
		file   string
		want   []string
	}{
		"comments of the base stay":          {nil, CSVFile, []string{"# Becomes \"true\" where every image"}},
		"the default channel may be another": {func(o *Options) { o.DefaultChannel = "candidate" }, "bundle.Dockerfile", []string{"channel.default.v1=candidate\n"}},
		"images of caches": {
			func(o *Options) {
				o.Agent, o.Memcached = "registry.example.com/team/agent:1", "registry.example.com/team/memcached:2"
			}, CSVFile,
			[]string{
				"name: RELATED_IMAGE_AGENT\n                  value: registry.example.com/team/agent:1\n",
				"- name: agent\n    image: registry.example.com/team/agent:1\n",
				"- name: memcached\n    image: registry.example.com/team/memcached:2\n",
			},
		},
		"images by digest": {
			func(o *Options) {
				o.Digest = func(context.Context, string) (string, error) {
					return "registry.example.com/pinned@sha256:1", nil
				}
			}, CSVFile,
			[]string{
				"containerImage: registry.example.com/pinned@sha256:1\n",
				"value: registry.example.com/pinned@sha256:1\n",
				"- name: memcached\n    image: registry.example.com/pinned@sha256:1\n",
				`disconnected: "true"`,
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := build(t, tc.change)[tc.file]
			for _, want := range tc.want {
				if !strings.Contains(got, want) {
					t.Errorf("%s does not hold %q:\n%s", tc.file, want, got)
				}
			}
		})
	}
}

func TestWriteRemovesWhatAnOlderBundleLeft(t *testing.T) {
	dir := t.TempDir()
	if err := (Files{"manifests/old.yaml": "", "catalog/kept.yaml": ""}).Write(dir); err != nil {
		t.Fatal(err)
	}
	want := build(t, nil)
	if err := want.Write(dir); err != nil {
		t.Fatal(err)
	}
	got, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(dir, "catalog/kept.yaml")); err != nil {
		t.Error(err)
	}
}

func TestManifestsThatNoBundleCanHold(t *testing.T) {
	const whole = "kind: ServiceAccount\nmetadata: {name: operator}\n---\nkind: Configuration\n---\n" +
		"kind: CustomResourceDefinition\n---\n" +
		"kind: Deployment\nmetadata: {name: a}\n---\n"
	const binding = "kind: ClusterRoleBinding\nmetadata: {name: b}\nroleRef: {kind: ClusterRole, name: r}\n" +
		"subjects: [{kind: ServiceAccount, name: operator}]\n"
	rule := func(rule string) string {
		return whole + binding + "---\nkind: ClusterRole\nmetadata: {name: r}\nrules: [" + rule + "]\n"
	}
	tests := map[string]struct{ objects, want string }{
		"a second Deployment":          {whole + "kind: Deployment\nmetadata: {name: b}\n", "renders 2 objects of kind Deployment, want 1"},
		"no Deployment":                {"kind: ServiceAccount\n---\nkind: CustomResourceDefinition\n", "renders 0 objects of kind Configuration, want 1"},
		"a kind that has no place":     {"apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n", "Job a: a bundle has no place for this kind"},
		"a role that is not there":     {whole + binding, "there is no ClusterRole r"},
		"a role that is bound to none": {whole + "kind: Role\nmetadata: {name: r}\n", "role r is bound to no account"},
		"a binding to a user": {
			whole + strings.Replace(binding, "ServiceAccount", "User", 1), "OLM gives roles to the ServiceAccount operator only",
		},
		"a resource of unknown scope": {rule(`{apiGroups: [batch], resources: [cronjobs]}`), `the scope of a rule for ["batch/cronjobs"] is not known`},
		"a rule for both scopes": {
			rule(`{apiGroups: ["", authentication.k8s.io], resources: [pods]}`), "split a rule for both lists",
		},
		"a rule for a URL": {rule(`{nonResourceURLs: [/metrics]}`), "the scope of a rule for [] is not known"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var objects []*yaml.RNode
			for object := range strings.SplitSeq(tc.objects, "---\n") {
				if object != "" {
					objects = append(objects, yaml.MustParse(object))
				}
			}
			m, err := group(objects)
			if err == nil {
				_, err = m.permissions()
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func build(t *testing.T, change func(*Options)) Files {
	t.Helper()
	files, err := Build(t.Context(), root, good(change))
	if err != nil {
		t.Fatal(err)
	}
	return files
}
