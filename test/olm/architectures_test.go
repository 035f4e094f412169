package olm

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/scripts/images/inspect"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

// These are places that name architectures, but are not files.
const (
	osLabels  = "the labels operatorframework.io/os.*"
	enum      = "the enum of spec.placement.architectures"
	preferred = "the enum of spec.placement.preferredArchitectures"
	platforms = "ALL_PLATFORMS of the Makefile"

	bundled    = "bundle/" + csvFile
	definition = "operator/config/crd/bases/cache.example.com_memcacheds.yaml"

	affinity, operand, labels = ": the node affinity", ": OPERAND_ARCHITECTURES", ": the labels operatorframework.io/arch.*"
)

// wanted returns the architectures that each place must name if the operator's image supports these platforms.
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
	want["overlays"] = slices.Sorted(slices.Values(append([]string{"components", "multiarch", "openshift"}, all...)))
	return want
}

// named returns the architectures that each place in the repository names, sorted.
func named(t *testing.T) map[string][]string {
	t.Helper()
	promises, err := inspect.Promises(root)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for _, p := range promises {
		found[p.Source+": "+p.Field] = p.Architectures
	}
	overlays, err := os.ReadDir(root + "/overlays")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range overlays {
		found["overlays"] = append(found["overlays"], entry.Name())
	}
	var csv struct {
		Metadata struct{ Labels map[string]string }
	}
	unmarshal(t, content(t, bundled), &csv)
	for label := range csv.Metadata.Labels {
		if system, isSystem := strings.CutPrefix(label, "operatorframework.io/os."); isSystem {
			found[osLabels] = append(found[osLabels], system)
		}
	}
	_, list, _ := strings.Cut(content(t, "Makefile"), "\nALL_PLATFORMS := ")
	list, _, _ = strings.Cut(list, "\n")
	for platform := range strings.SplitSeq(list, ",") {
		found[platforms] = append(found[platforms], strings.TrimPrefix(platform, "linux/"))
	}
	addEnums(t, found)
	for _, names := range found {
		slices.Sort(names)
	}
	return found
}

func addEnums(t *testing.T, found map[string][]string) {
	t.Helper()
	var crd apiextensionsv1.CustomResourceDefinition
	unmarshal(t, content(t, definition), &crd)
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

func content(t *testing.T, file string) string {
	t.Helper()
	text := page.Read(t, filepath.Join(root, file))
	return text
}

func TestEveryPlaceNamesTheSameArchitectures(t *testing.T) {
	if diff := cmp.Diff(wanted(oci.Platforms()), named(t)); diff != "" {
		t.Errorf("architectures (-platforms of oci.Platforms +named in this place):\n%s", diff)
	}
}
