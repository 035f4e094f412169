package bundle

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	appsv1 "k8s.io/api/apps/v1"
	kerrors "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

const (
	// CSVFile is the file with the ClusterServiceVersion.
	CSVFile = "manifests/" + Package + ".clusterserviceversion.yaml"

	// AnnotationsFile is the file with channels and other facts about the bundle.
	AnnotationsFile = "metadata/annotations.yaml"

	channelsKey       = "operators.operatorframework.io.bundle.channels.v1"
	defaultChannelKey = "operators.operatorframework.io.bundle.channel.default.v1"

	// skipRange is the annotation with the range of versions that an upgrade to this version may skip.
	skipRange = "olm.skipRange"
)

// Files are a bundle's files by their paths in the bundle's directory.
type Files map[string]string

// Write writes the files to dir. It first removes the files of an older bundle from dir, but not the catalog.
func (f Files) Write(dir string) error {
	for _, folder := range []string{"manifests", "metadata", "tests"} {
		if err := os.RemoveAll(filepath.Join(dir, folder)); err != nil {
			return err
		}
	}
	for path, content := range f {
		if err := worktree.WriteFile(filepath.Join(dir, path), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Read reads a bundle from a directory, without the catalog next to it.
func Read(dir string) (Files, error) {
	files := Files{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(path, "catalog/") {
			return err
		}
		content, err := os.ReadFile(filepath.Join(dir, path))
		files[path] = string(content)
		return err
	})
	return files, err
}

// Recipe is the name of the Dockerfile of an image that OLM reads. Such an image has only labels and files, and no
// program.
type Recipe string

// These are the images that OLM reads.
const (
	Image        Recipe = "bundle.Dockerfile"
	CatalogImage Recipe = "catalog.Dockerfile"
)

// Build builds the image of the files in dir, for all platforms, without a container tool.
func (r Recipe) Build(dir string) (v1.ImageIndex, error) {
	text, err := os.ReadFile(filepath.Join(dir, string(r)))
	if err != nil {
		return nil, fmt.Errorf("%w: write it by make bundle", err)
	}
	labels, files := map[string]string{}, map[string]string{}
	for line := range strings.Lines(string(text)) {
		words := append(strings.Fields(line), "", "", "")
		switch words[0] {
		case "LABEL":
			label, value, _ := strings.Cut(words[1], "=")
			labels[label] = value
		case "COPY":
			copied, err := Read(filepath.Join(dir, words[1]))
			if err != nil {
				return nil, err
			}
			for name, content := range copied {
				files[path.Join(strings.Trim(words[2], "/"), name)] = content
			}
		}
	}
	return oci.Files(labels, files)
}

// Version is the data in a bundle about the bundle's version.
type Version struct {
	Options // With these options, Build generates the same bundle.

	csv
}

// csv is the part of a ClusterServiceVersion that the commands read.
type csv struct {
	Metadata struct {
		Name                string
		Labels, Annotations map[string]string
	}
	Spec struct {
		Version, Replaces         string
		RelatedImages             []RelatedImage
		Maintainers               []struct{ Email string }
		CustomResourceDefinitions struct {
			Owned []struct{ Name, Version, Kind string }
		}
		Install struct {
			Spec struct {
				Deployments []struct{ Spec appsv1.DeploymentSpec }
			}
		}
	}
}

// RelatedImage is an image that a mirror for the operator must have.
type RelatedImage struct{ Name, Image string }

// Version reads the data about the version. The images are those in the bundle, even if the manifests have been changed
// and name other images.
func (f Files) Version() (*Version, error) {
	v := &Version{}
	var metadata struct{ Annotations map[string]string }
	for name, into := range map[string]any{CSVFile: &v.csv, AnnotationsFile: &metadata} {
		if err := yaml.Unmarshal([]byte(f[name]), into); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	v.Options = Options{
		Version: v.Spec.Version, Replaces: strings.TrimPrefix(v.Spec.Replaces, Name("")),
		SkipRange: v.Metadata.Annotations[skipRange], Channels: strings.Split(metadata.Annotations[channelsKey], ","),
		DefaultChannel: metadata.Annotations[defaultChannelKey],
	}
	for _, related := range v.Spec.RelatedImages {
		if image := v.byName()[related.Name]; image != nil {
			*image = related.Image
		}
	}
	for _, deployment := range v.Spec.Install.Spec.Deployments {
		for _, secret := range deployment.Spec.Template.Spec.ImagePullSecrets {
			v.PullSecret = secret.Name
		}
	}
	if err := v.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w: write it by make bundle", Dir, err)
	}
	return v, nil
}

// most is the largest size of a bundle's manifests that OLM accepts, in bytes, after OLM has compressed them.
const most = 1 << 20

//go:embed csv.schema.yaml
var csvSchema []byte

// Check reports the reasons for which OLM or OperatorHub would refuse the bundle. It checks only what a change to the
// manifests or to the hand-written base can break, because Build guarantees the rest.
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
	return Conforms(csvSchema, Base, f[CSVFile]) // The error names the base, because that is the file to correct.
}

// Conforms reports each field of a YAML file that its schema does not allow, with the field's value. The schema is
// YAML, too.
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
