package bundle

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
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
			rule(`{apiGroups: ["", authentication.k8s.io], resources: [pods]}`), "split a rule that has resources of both lists",
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

func TestABundleThatOLMOrOperatorHubWouldRefuse(t *testing.T) {
	const crd = "manifests/cache.example.com_memcacheds.yaml"
	tests := map[string]struct{ file, old, new, want string }{
		"a missing annotation":         {CSVFile, `tls-profiles: "false"`, `tls: "false"`, "tls-profiles is required"},
		"a feature that is no boolean": {CSVFile, `proxy-aware: "false"`, `proxy-aware: "no"`, `proxy-aware should be one of [true false], not "no"`},
		"a time that is none":          {CSVFile, `createdAt: "2026-`, `createdAt: "26-`, "createdAt must be of type date-time"},
		"a long description":           {CSVFile, "    description: Runs", "    description: " + strings.Repeat("x", 200), "description should be at most 134 chars long"},
		"an install mode twice":        {CSVFile, "type: OwnNamespace", "type: AllNamespaces", "spec.installModes shouldn't contain duplicates"},
		"a webhook":                    {CSVFile, "  install:\n", "  webhookdefinitions: [{type: ConversionWebhook}]\n  install:\n", "webhookdefinitions is a forbidden property"},
		"a manager without CPU":        {CSVFile, "cpu: 10m", "gpu: 1", "containers[0].resources.requests.cpu is required"},
		"manifests that are too large": {crd, "spec:", "# " + strings.Repeat("x", 1<<20) + "\nspec:", "OLM accepts 1048576"},
	}
	valid := build(t, nil)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(valid)
			if files[tc.file] = strings.ReplaceAll(valid[tc.file], tc.old, tc.new); files[tc.file] == valid[tc.file] {
				t.Fatalf("%s does not hold %q", tc.file, tc.old)
			}
			if err := files.Check(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func TestOneLayerServesAllPlatformsAndHasTheLabelThatOLMReads(t *testing.T) {
	labels := map[Recipe]string{
		Image:        "operators.operatorframework.io.bundle.manifests.v1=manifests/",
		CatalogImage: "operators.operatorframework.io.index.configs.v1=/configs",
	}
	for recipe, label := range labels {
		index, err := recipe.Build(root + "/bundle")
		if err != nil {
			t.Fatal(err)
		}
		images, err := partial.FindImages(index, func(v1.Descriptor) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		platforms := map[string][]string{} // platforms by the layers of their images
		for _, image := range images {
			config, err := image.ConfigFile()
			if err != nil {
				t.Fatal(err)
			}
			layers := fmt.Sprint(config.RootFS.DiffIDs)
			platforms[layers] = append(platforms[layers], config.Platform().String())
			if key, value, _ := strings.Cut(label, "="); config.Config.Labels[key] != value || len(config.RootFS.DiffIDs) != 1 {
				t.Errorf("%v has no %s, or several layers", config.Config, label)
			}
		}
		want := [][]string{{"linux/amd64", "linux/arm64", "linux/ppc64le", "linux/s390x"}}
		if diff := cmp.Diff(want, slices.Collect(maps.Values(platforms))); diff != "" {
			t.Errorf("%s: platforms by layer (-want +got):\n%s", recipe, diff)
		}
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
