package check

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

const ruleReadable = "the bundle can be read"

// view is a bundle, read.
type view struct {
	files       bundle.Files
	annotations map[string]string // of metadata/annotations.yaml
	labels      map[string]string // of the Dockerfile
	csv         *csv
	crds        []*crd
	others      []*object
}

type csv struct {
	APIVersion string
	Kind       string
	Metadata   metav1.ObjectMeta
	Spec       csvSpec
}

type csvSpec struct {
	DisplayName    string
	Description    string
	Version        string
	Replaces       string
	Maturity       string
	MinKubeVersion string
	Keywords       []string
	Icon           []struct{ Base64Data, MediaType string }
	Links          []struct{ Name, URL string }
	Maintainers    []struct{ Name, Email string }
	Provider       struct{ Name, URL string }
	InstallModes   []struct {
		Type      string
		Supported bool
	}
	CustomResourceDefinitions struct{ Owned []ownedAPI }
	RelatedImages             []struct{ Name, Image string }
	WebhookDefinitions        []struct{ Type string }
	Install                   struct {
		Strategy string
		Spec     struct {
			Permissions, ClusterPermissions []permission
			Deployments                     []deployment
		}
	}
}

type ownedAPI struct {
	Name, Kind, Version, DisplayName, Description string

	Resources                          []struct{ Kind, Version string }
	SpecDescriptors, StatusDescriptors []struct{ Path, DisplayName, Description string }
}

type permission struct {
	ServiceAccountName string
	Rules              []rbacv1.PolicyRule
}

type deployment struct {
	Name  string
	Label map[string]string
	Spec  appsv1.DeploymentSpec
}

type crd struct {
	Metadata metav1.ObjectMeta
	Spec     struct {
		Group    string
		Names    struct{ Kind string }
		Versions []struct {
			Name   string
			Schema struct{ OpenAPIV3Schema schema }
		}
	}
}

// object is a manifest that OLM takes as it is.
type object struct {
	file       string
	APIVersion string
	Kind       string
	Metadata   metav1.ObjectMeta
}

// read returns a problem instead of an error: that a bundle is readable is one of the rules.
func read(files bundle.Files) (v *view, problem string) {
	v = &view{files: files, labels: dockerfileLabels(files["bundle.Dockerfile"])}
	var metadata struct{ Annotations map[string]string }
	if problem := parse(files, "metadata/annotations.yaml", &metadata); problem != "" {
		return nil, problem
	}
	v.annotations = metadata.Annotations
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasPrefix(file, "manifests/") {
			continue
		}
		if problem := v.addManifest(file); problem != "" {
			return nil, problem
		}
	}
	if v.csv == nil {
		return nil, "manifests/ holds no ClusterServiceVersion"
	}
	return v, ""
}

func parse(files bundle.Files, file string, into any) (problem string) {
	text, found := files[file]
	if !found {
		return file + " is missing"
	}
	if err := yaml.Unmarshal([]byte(text), into); err != nil {
		return fmt.Sprintf("%s: %v", file, err)
	}
	return ""
}

func (v *view) addManifest(file string) (problem string) {
	if path.Dir(file) != "manifests" {
		return file + " is in a folder of its own: OLM v1 reads manifests/ alone"
	}
	o := &object{file: file}
	if problem := parse(v.files, file, o); problem != "" {
		return problem
	}
	switch o.Kind {
	case "":
		return file + " has no kind"
	case "ClusterServiceVersion":
		if v.csv != nil {
			return file + " is a second ClusterServiceVersion"
		}
		v.csv = &csv{}
		return parse(v.files, file, v.csv)
	case "CustomResourceDefinition":
		definition := &crd{}
		v.crds = append(v.crds, definition)
		return parse(v.files, file, definition)
	}
	v.others = append(v.others, o)
	return ""
}

func dockerfileLabels(dockerfile string) map[string]string {
	labels := map[string]string{}
	for line := range strings.Lines(dockerfile) {
		if pair, found := strings.CutPrefix(strings.TrimSpace(line), "LABEL "); found {
			name, value, _ := strings.Cut(pair, "=")
			labels[name] = value
		}
	}
	return labels
}

// containers are all of the operator's Deployments.
func (v *view) containers() (containers []corev1.Container) {
	for _, d := range v.csv.Spec.Install.Spec.Deployments {
		containers = append(containers, d.Spec.Template.Spec.Containers...)
	}
	return containers
}
