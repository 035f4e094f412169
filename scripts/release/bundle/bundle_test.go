package bundle

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

const root = "../../.."

func TestTheSameInputGivesTheSameBytes(t *testing.T) {
	if diff := cmp.Diff(build(t, nil), build(t, nil)); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
}

func TestWhatAnOptionChanges(t *testing.T) {
	const csv = "manifests/memcached-operator.clusterserviceversion.yaml"
	tests := map[string]struct {
		change func(*Options)
		file   string
		want   []string
	}{
		"a version is name and version":      {nil, csv, []string{"name: memcached-operator.v0.2.0\n", "\n  version: 0.2.0\n"}},
		"the time is that which is given":    {nil, csv, []string{`createdAt: "2026-01-31T12:00:00Z"`}},
		"comments of the base stay":          {nil, csv, []string{"# One for each field of the API"}},
		"what comes before is named":         {func(o *Options) { o.Replaces = "0.1.0" }, csv, []string{"\n  replaces: memcached-operator.v0.1.0\n"}},
		"what may be skipped is named":       {func(o *Options) { o.Replaces, o.SkipRange = "0.1.0", ">=0.1.0 <0.2.0" }, csv, []string{"olm.skipRange: '>=0.1.0 <0.2.0'"}},
		"a Secret goes to the Deployment":    {func(o *Options) { o.PullSecret = "registry" }, csv, []string{"imagePullSecrets:\n              - name: registry"}},
		"the default channel is the first":   {nil, "metadata/annotations.yaml", []string{"channel.default.v1: stable\n"}},
		"the default channel may be another": {func(o *Options) { o.DefaultChannel = "candidate" }, "bundle.Dockerfile", []string{"channel.default.v1=candidate\n"}},
		"images of caches": {
			func(o *Options) {
				o.AgentImage, o.MemcachedImage = "registry.example.com/team/agent:1", "registry.example.com/team/memcached:2"
			}, csv,
			[]string{
				"name: RELATED_IMAGE_AGENT\n                  value: registry.example.com/team/agent:1\n",
				"- name: agent\n    image: registry.example.com/team/agent:1\n",
				"- name: memcached\n    image: registry.example.com/team/memcached:2\n",
			},
		},
		"images by digest": {
			func(o *Options) { o.Digest = pinned }, csv,
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

func pinned(context.Context, string) (string, error) {
	return "registry.example.com/pinned@sha256:1", nil
}

func TestADigestThatNobodyKnowsStopsTheBundle(t *testing.T) {
	unknown := errors.New("not there")
	_, err := Build(t.Context(), root, good(func(o *Options) {
		o.Digest = func(context.Context, string) (string, error) { return "", unknown }
	}))
	if !errors.Is(err, unknown) {
		t.Errorf("error: %v", err)
	}
}

func TestWriteRemovesWhatAnOlderBundleLeft(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"manifests/old.yaml", "catalog/kept.yaml"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
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
	const account = "kind: ServiceAccount\nmetadata: {name: operator}\n"
	const binding = "kind: ClusterRoleBinding\nmetadata: {name: b}\nroleRef: {kind: ClusterRole, name: r}\n" +
		"subjects: [{kind: ServiceAccount, name: operator}]\n"
	rule := func(rule string) string { return "kind: ClusterRole\nmetadata: {name: r}\nrules: [" + rule + "]\n" }
	tests := map[string]struct {
		objects []string
		want    string
	}{
		"a second Deployment":          {[]string{"kind: Deployment\nmetadata: {name: a}\n", "kind: Deployment\nmetadata: {name: b}\n"}, "there is one already, a"},
		"a kind nobody thought of":     {[]string{"apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n"}, "what becomes of a Job"},
		"a role that is not there":     {[]string{account, binding}, "there is no ClusterRole/r"},
		"a role that is bound to none": {[]string{account, "kind: Role\nmetadata: {name: r}\n"}, "role r is bound to nobody"},
		"a binding to a person": {
			[]string{account, strings.Replace(binding, "ServiceAccount", "User", 1)}, "OLM can give roles to the ServiceAccount operator alone",
		},
		"a resource nobody thought of": {
			[]string{account, binding, rule(`{apiGroups: [batch], resources: [jobs]}`)}, "whether batch/jobs has a namespace is not known",
		},
		"a rule for both scopes": {
			[]string{account, binding, rule(`{apiGroups: ["", authentication.k8s.io], resources: [pods]}`)}, "is not known",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m := &manifests{}
			var err error
			for _, object := range tc.objects {
				if err = m.add(yaml.MustParse(object)); err != nil {
					break
				}
			}
			if err == nil {
				_, err = m.bindPermissions()
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
