package verify

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example-inc/memcached-operator/scripts/gitops/repo"
	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

const architectureVariable, architectureLabel = "OPERAND_ARCHITECTURES", "kubernetes.io/arch"

// architectures: the operator runs, and lets caches run, where the settings say.
func architectures(s subject) {
	setting := s.Settings.Architecture
	for app, o := range s.Objects() {
		places, want := s.places(o)
		if setting != repo.Multiarch {
			want = []string{setting}
		}
		for _, place := range places {
			if !slices.Equal(place.names, want) {
				s.fail(at(o), app.Name, fmt.Sprintf("%s: %s is %q, by the architecture %s in the settings it has to be %q",
					o, place.what, strings.Join(place.names, ","), setting, strings.Join(want, ",")),
					"correct the folder of that architecture in gitops/operator, or its overlay")
			}
		}
	}
}

// place is where architectures are named.
type place struct {
	what  string
	names []string // sorted
}

// places are those of an object, if it is the operator's, and what they name where all architectures are chosen.
func (s subject) places(o tree.Object) (found []place, all []string) {
	switch {
	case s.configures(o): // None there leaves those of the bundle, which are all.
		return []place{operand(o), {"the node selector", confined(o, "spec", "config")}}, nil
	case runs(o):
		all = slices.DeleteFunc(s.builder.Files.Architectures(), func(name string) bool { return name == repo.Multiarch })
		return []place{operand(o), {"the node affinity", confined(o, "spec", "template", "spec")}}, all
	}
	return nil, nil
}

func operand(o tree.Object) place {
	return place{architectureVariable, split(strings.Join(variables(o.Unstructured.Object, architectureVariable), ","))}
}

// confined are the architectures that the Pods are confined to, by a node selector or a required node affinity below
// the path.
func confined(o tree.Object, path ...string) []string {
	selector := append(slices.Clone(path), "nodeSelector", architectureLabel)
	names := append(split(o.Text(selector...)), required(o, path...)...)
	slices.Sort(names)
	return slices.Compact(names)
}

func required(o tree.Object, path ...string) (names []string) {
	affinity, _, _ := unstructured.NestedMap(o.Unstructured.Object, append(slices.Clone(path), "affinity",
		"nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")...)
	collectMaps(affinity, func(fields map[string]any) {
		if fields["key"] == architectureLabel && fields["operator"] == "In" {
			values, _, _ := unstructured.NestedStringSlice(fields, "values")
			names = append(names, values...)
		}
	})
	return names
}

func split(list string) []string {
	names := strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
	slices.Sort(names)
	return names
}
