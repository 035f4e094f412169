package bundle

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"

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

// Check reports for what OLM or OperatorHub would refuse the bundle, as far as a change of the manifests or the
// hand-written base can cause it. What Build itself guarantees is not checked.
func (f Files) Check() error {
	size := 0
	for path, content := range f {
		if strings.HasPrefix(path, "manifests/") {
			size += len(content)
		}
	}
	if size > most {
		return fmt.Errorf("manifests/ holds %d bytes: OLM accepts %d", size, most)
	}
	return Conforms(csvSchema, Base, f[CSVFile]) // It is the base that users correct.
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
		message := strings.ReplaceAll(err.Error(), " in body", "")
		var invalid *kerrors.Validation
		if errors.As(err, &invalid) && invalid.Value != nil {
			message += fmt.Sprintf(", not %q", fmt.Sprint(invalid.Value))
		}
		errs = append(errs, fmt.Errorf("%s: %s", name, message))
	}
	return errors.Join(errs...)
}
