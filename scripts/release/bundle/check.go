package bundle

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kerrors "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"sigs.k8s.io/yaml"
)

// most is the size of a bundle's manifests that OLM accepts. OLM compresses them before it counts.
const most = 1 << 20

//go:embed csv.schema.yaml
var csvSchema []byte

// Check reports for what OLM or OperatorHub would refuse the bundle, as far as a change of the manifests, the API or the
// hand-written base can cause it. What Build itself guarantees is not checked.
func (f Files) Check() error {
	errs := []error{Conforms(csvSchema, CSVFile, f[CSVFile]), f.checkAPIs()}
	size := 0
	for path, content := range f {
		if strings.HasPrefix(path, "manifests/") {
			size += len(content)
		}
	}
	if size > most {
		errs = append(errs, fmt.Errorf("manifests/ holds %d bytes: OLM accepts %d", size, most))
	}
	return errors.Join(errs...)
}

// checkAPIs compares the APIs that the CRDs define, that the ClusterServiceVersion owns, and that its examples show.
func (f Files) checkAPIs() error {
	var c csv
	if err := yaml.Unmarshal([]byte(f[CSVFile]), &c); err != nil {
		return fmt.Errorf("%s: %w", CSVFile, err)
	}
	var examples []struct{ APIVersion, Kind string }
	if err := json.Unmarshal([]byte(c.Metadata.Annotations["alm-examples"]), &examples); err != nil {
		return fmt.Errorf("%s: annotation alm-examples: %w", CSVFile, err)
	}
	defined, owned, shown := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for path, content := range f {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal([]byte(content), &crd); err != nil || crd.Kind != "CustomResourceDefinition" {
			continue // Of another kind, such as a Dockerfile.
		}
		_ = path
		for _, version := range crd.Spec.Versions {
			defined[crd.Spec.Group+"/"+version.Name+" "+crd.Spec.Names.Kind] = true
		}
	}
	for _, api := range c.Spec.CustomResourceDefinitions.Owned {
		_, group, _ := strings.Cut(api.Name, ".")
		owned[group+"/"+api.Version+" "+api.Kind] = true
	}
	for _, example := range examples {
		shown[example.APIVersion+" "+example.Kind] = true
	}
	return errors.Join(
		same("spec.customresourcedefinitions.owned of "+Base, owned, defined),
		same("operator/config/samples", shown, defined))
}

func same(place string, got, want map[string]bool) error {
	if maps.Equal(got, want) {
		return nil
	}
	return fmt.Errorf("%s has %q, and the CRDs define %q", place,
		slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
}

// Conforms reports each field of a YAML file that its schema, in YAML too, does not allow, with its value.
func Conforms(schema []byte, name, text string) error {
	var s spec.Schema
	if err := yaml.Unmarshal(schema, &s); err != nil {
		return fmt.Errorf("schema of %s: %w", name, err)
	}
	var content any
	if err := yaml.Unmarshal([]byte(text), &content); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var errs []error
	for _, err := range validate.NewSchemaValidator(&s, nil, "", strfmt.Default).Validate(content).Errors {
		var invalid *kerrors.Validation
		if errors.As(err, &invalid) && invalid.Value != nil {
			err = fmt.Errorf("%w, not %q", err, fmt.Sprint(invalid.Value))
		}
		errs = append(errs, fmt.Errorf("%s: %w", name, err))
	}
	return errors.Join(errs...)
}
