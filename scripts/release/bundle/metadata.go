package bundle

import (
	"embed"
	"fmt"
	"path"
	"strings"
	"text/template"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

//go:embed files
var sources embed.FS

var templates = template.Must(template.ParseFS(sources, "files/*"))

// metadata is the annotations for OLM, the scorecard and OpenShift's catalogs, and the Dockerfiles of both images.
func metadata(o Options, csv *yaml.RNode) (Files, error) {
	openShift, err := openShiftMinor(csv)
	if err != nil {
		return nil, err
	}
	files := Files{}
	values := map[string]any{
		"Channels": strings.Join(o.Channels, ","), "DefaultChannel": o.defaultChannel(), "OpenShift": openShift,
	}
	for _, name := range []string{AnnotationsFile, "bundle.Dockerfile", "catalog.Dockerfile"} {
		var text strings.Builder
		if err := templates.ExecuteTemplate(&text, path.Base(name), values); err != nil {
			return nil, err
		}
		files[name] = generated + text.String()
		if name == AnnotationsFile { // Registries read the same from labels of the image.
			_, lines, _ := strings.Cut(text.String(), "\n")
			values["Labels"] = strings.Fields(strings.ReplaceAll(lines, ": ", "="))
		}
	}
	return files, nil
}

// openShiftMinor is the oldest OpenShift 4 whose Kubernetes is not older than minKubeVersion. Since OpenShift 4.3 the
// minor version of Kubernetes is ahead by 13: OpenShift 4.17 has Kubernetes 1.30.
func openShiftMinor(csv *yaml.RNode) (int, error) {
	text := field(csv, "spec", "minKubeVersion").Value
	var minor int
	if _, err := fmt.Sscanf(text, "1.%d.", &minor); err != nil || minor < 16 {
		return 0, fmt.Errorf("spec.minKubeVersion %q in %s: name a version from 1.16.0 on, such as 1.30.0", text, Base)
	}
	return minor - 13, nil
}
