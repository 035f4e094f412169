package olm

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/example-inc/memcached-operator/scripts/images/inspect"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

// Places that name architectures and are not files.
const (
	osLabels  = "the labels operatorframework.io/os.*"
	enum      = "the enum of spec.placement.architectures"
	preferred = "the enum of spec.placement.preferredArchitectures"
	platforms = "ALL_PLATFORMS of the Makefile"

	bundled    = "bundle/" + csvFile
	definition = "operator/config/crd/bases/cache.example.com_memcacheds.yaml"

	affinity, operand, labels = ": the node affinity", ": OPERAND_ARCHITECTURES", ": the labels operatorframework.io/arch.*"
)

// folders have a directory for each architecture, and these others.
var folders = map[string][]string{
	"overlays": {"components", "multiarch", "openshift"},
}

// wanted are the architectures that each place must name if the operator's image supports these platforms.
func wanted(released []v1.Platform) map[string][]string {
	var all, systems []string
	for _, platform := range released {
		all, systems = append(all, platform.Architecture), append(systems, platform.OS)
	}
	want := map[string][]string{
		bundled + labels: all, osLabels: slices.Compact(systems), enum: all, preferred: all, platforms: all,
	}
	for _, source := range []string{bundled, "operator/config/manager", "overlays/multiarch", "overlays/openshift"} {
		want[source+affinity], want[source+operand] = all, all
	}
	for _, one := range all {
		want["overlays/"+one+affinity], want["overlays/"+one+operand] = []string{one}, []string{one}
	}
	for folder, others := range folders {
		want[folder] = slices.Sorted(slices.Values(slices.Concat(all, others)))
	}
	return want
}

// named are the architectures that each place in the repository at root names, sorted.
func named(t *testing.T, root string) map[string][]string {
	t.Helper()
	promises, err := inspect.Promises(root)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for _, p := range promises {
		found[p.Source+": "+p.Field] = p.Architectures
	}
	for folder := range folders {
		entries, err := os.ReadDir(filepath.Join(root, folder))
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			found[folder] = append(found[folder], entry.Name())
		}
	}
	var csv struct {
		Metadata struct{ Labels map[string]string }
	}
	unmarshal(t, content(t, root, bundled), &csv)
	for label := range csv.Metadata.Labels {
		if system, isSystem := strings.CutPrefix(label, "operatorframework.io/os."); isSystem {
			found[osLabels] = append(found[osLabels], system)
		}
	}
	_, list, _ := strings.Cut(content(t, root, "Makefile"), "\nALL_PLATFORMS := ")
	list, _, _ = strings.Cut(list, "\n")
	for platform := range strings.SplitSeq(list, ",") {
		found[platforms] = append(found[platforms], strings.TrimPrefix(platform, "linux/"))
	}
	addEnums(t, root, found)
	for _, names := range found {
		slices.Sort(names)
	}
	return found
}

func addEnums(t *testing.T, root string, found map[string][]string) {
	t.Helper()
	var crd apiextensionsv1.CustomResourceDefinition
	unmarshal(t, content(t, root, definition), &crd)
	placement := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["placement"].Properties
	for place, schema := range map[string]apiextensionsv1.JSONSchemaProps{
		enum:      *placement["architectures"].Items.Schema,
		preferred: placement["preferredArchitectures"].Items.Schema.Properties["architecture"],
	} {
		for _, value := range schema.Enum {
			found[place] = append(found[place], strings.Trim(string(value.Raw), `"`))
		}
	}
}

func content(t *testing.T, root, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEveryPlaceNamesTheSameArchitectures(t *testing.T) {
	if diff := cmp.Diff(wanted(oci.Platforms()), named(t, root)); diff != "" {
		t.Errorf("(-of oci.Platforms +named there):\n%s", diff)
	}
}

func TestAPlaceThatNamesOtherArchitecturesIsReported(t *testing.T) {
	tests := map[string]struct {
		file     string
		old, new string // without both, the file or folder is missing
		want     []string
	}{
		"the labels for OLM":      {bundled, "    operatorframework.io/arch.s390x: supported\n", "", []string{bundled + labels}},
		"the label of the system": {bundled, "operatorframework.io/os.linux", "operatorframework.io/os.windows", []string{osLabels}},
		"the bundle's affinity":   {bundled, "values: [amd64, ", "values: [", []string{bundled + affinity}},
		"the bundle's default":    {bundled, "value: amd64,", "value: ", []string{bundled + operand}},
		"the API":                 {definition, "\n                      - s390x\n", "\n", []string{enum}},
		"the API's preference":    {definition, "\n                          - arm64\n", "\n", []string{preferred}},
		"a new overlay":           {"overlays/mips/kustomization.yaml", "", "resources: [../../operator/config/crd]\n", []string{"overlays"}},
		"no overlay":              {"overlays/s390x", "", "", []string{"overlays", "overlays/s390x" + operand, "overlays/s390x" + affinity}},
		"an overlay for another":  {"overlays/arm64/kustomization.yaml", "arch=arm64", "arch=amd64", []string{"overlays/arm64" + operand, "overlays/arm64" + affinity}},
		"what make builds":        {"Makefile", ",linux/ppc64le", "", []string{platforms}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := copied(t)
			change(t, filepath.Join(dir, tc.file), tc.old, tc.new)
			got := differing(wanted(oci.Platforms()), named(t, dir))
			slices.Sort(tc.want)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("places (-want +got):\n%s", diff)
			}
		})
	}
}

// differing are the places whose architectures differ, sorted.
func differing(want, got map[string][]string) (places []string) {
	all := maps.Clone(want)
	maps.Copy(all, got)
	for _, place := range slices.Sorted(maps.Keys(all)) {
		if !slices.Equal(want[place], got[place]) {
			places = append(places, place)
		}
	}
	return places
}

// copied is a copy of the files that name architectures.
func copied(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, folder := range []string{"overlays", "operator/config", "bundle"} {
		if err := os.CopyFS(filepath.Join(dir, folder), os.DirFS(filepath.Join(root, folder))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte(content(t, root, "Makefile")), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func change(t *testing.T, path, old, with string) {
	t.Helper()
	if old == "" && with == "" {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	text := with
	if old != "" {
		before := content(t, filepath.Dir(path), filepath.Base(path))
		if text = strings.ReplaceAll(before, old, with); text == before {
			t.Fatalf("%s does not hold %q", path, old)
		}
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
