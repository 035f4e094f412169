// Package scorecard gives the verdicts of operator-sdk's scorecard, under the names of its tests, without its images
// and without a cluster. Where our rules are stricter than the scorecard's, a broken rule is a suggestion here.
package scorecard

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

// State is the verdict of a test.
type State string

// The verdicts of the scorecard: a test that can not be run is an error.
const (
	Pass  State = "pass"
	Fail  State = "fail"
	Error State = "error"
)

// Result is what a test finds. Suggestions change no verdict.
type Result struct {
	State       State
	Errors      []string
	Suggestions []string
}

func (r *Result) fail(format string, args ...any) {
	r.State = Fail
	r.Errors = append(r.Errors, fmt.Sprintf(format, args...))
}

func (r *Result) suggest(format string, args ...any) {
	r.Suggestions = append(r.Suggestions, fmt.Sprintf(format, args...))
}

// Tests are the names of the scorecard's tests, by suite.
func Tests() map[string][]string {
	return map[string][]string{
		"basic": {"basic-check-spec"},
		"olm": {
			"olm-bundle-validation", "olm-crds-have-validation", "olm-crds-have-resources",
			"olm-spec-descriptors", "olm-status-descriptors",
		},
	}
}

// Run runs a test on a bundle. The bundle itself must be readable, except for the test that looks at that.
func Run(test string, files bundle.Files) (Result, error) {
	if test == "olm-bundle-validation" {
		return bundleValidation(files), nil
	}
	run, found := map[string]func(*subject, *Result){
		"basic-check-spec":         checkSpec,
		"olm-crds-have-validation": crdsHaveValidation,
		"olm-crds-have-resources":  crdsHaveResources,
		"olm-spec-descriptors":     specDescriptors,
		"olm-status-descriptors":   statusDescriptors,
	}[test]
	if !found {
		return Result{}, fmt.Errorf("%q is no test of the scorecard: %v are", test, Tests())
	}
	s, err := read(files)
	if err != nil {
		return Result{}, err
	}
	result := Result{State: Pass}
	run(s, &result)
	return result, nil
}

// subject is what the tests look at.
type subject struct {
	owned    []owned
	crds     []apiextensionsv1.CustomResourceDefinition
	examples []unstructured.Unstructured
	unread   error // why the examples can not be read
}

type owned struct {
	Name, Kind, Version string

	Resources                          []struct{ Kind string }
	SpecDescriptors, StatusDescriptors []struct{ Path string }
}

func (s *subject) ownerOf(cr unstructured.Unstructured) *owned {
	i := slices.IndexFunc(s.owned, func(o owned) bool {
		return o.Kind == cr.GetKind() && o.Version == cr.GroupVersionKind().Version
	})
	if i < 0 {
		return nil
	}
	return &s.owned[i]
}

func read(files bundle.Files) (*subject, error) {
	s := &subject{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasPrefix(name, "manifests/") {
			continue
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(files[name]), &object.Object); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := s.add(object.GetKind(), files[name]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return s, nil
}

func (s *subject) add(kind, text string) error {
	switch kind {
	case "CustomResourceDefinition":
		var crd apiextensionsv1.CustomResourceDefinition
		err := yaml.Unmarshal([]byte(text), &crd)
		s.crds = append(s.crds, crd)
		return err
	case "ClusterServiceVersion":
		var csv struct {
			Metadata struct{ Annotations map[string]string }
			Spec     struct {
				CustomResourceDefinitions struct{ Owned []owned }
			}
		}
		if err := yaml.Unmarshal([]byte(text), &csv); err != nil {
			return err
		}
		s.owned = csv.Spec.CustomResourceDefinitions.Owned
		if examples := csv.Metadata.Annotations["alm-examples"]; examples != "" {
			s.unread = json.Unmarshal([]byte(examples), &s.examples)
		}
	}
	return nil
}
