package tree

import (
	"archive/zip"
	"bytes"
	_ "embed" // of crds.yaml
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

//go:embed crds.yaml
var projectsFile []byte

// project is another project in a version of its Go module: the files with CustomResourceDefinitions, and those with
// all keys of a ConfigMap, by its name.
type project struct {
	Name, Module, Version string
	CRDs                  []string
	Settings              map[string]string
}

// ReadProjects adds what the API server accepts if other projects are installed, and the settings that they know.
func (b *Builder) ReadProjects() error {
	known, err := readProjects()
	if err != nil {
		return fmt.Errorf("read CustomResourceDefinitions in Go's module cache, to which it downloads them at first: %w", err)
	}
	for kind, definitions := range known.kinds {
		b.Schemas.kinds[kind] = append(b.Schemas.kinds[kind], definitions...)
	}
	b.Schemas.keys = known.keys
	return nil
}

// readProjects reads the modules as archives: the command go extracts none that requires a newer Go.
var readProjects = sync.OnceValues(func() (Schemas, error) {
	known := newSchemas()
	var projects []project
	if err := yaml.UnmarshalStrict(projectsFile, &projects); err != nil {
		return known, err
	}
	command := exec.Command("go", "mod", "download", "-json")
	for _, p := range projects {
		command.Args = append(command.Args, p.Module+"@"+p.Version)
	}
	command.Dir = os.TempDir() // outside of a module, whose go.sum would grow
	command.Env = append(os.Environ(), "GOTOOLCHAIN=local", "GOWORK=off", "GOFLAGS=")
	out, failed := command.Output() // It fails for a module that requires a newer Go, too.
	decoder := json.NewDecoder(bytes.NewReader(out))
	for _, p := range projects { // in the same order
		var module struct{ Zip, Error string }
		err := decoder.Decode(&module)
		if err == nil && module.Zip != "" {
			err = known.read(p, module.Zip)
		} else {
			err = errors.Join(errors.New(module.Error), err, failed)
		}
		if err != nil {
			return known, fmt.Errorf("%s@%s: %w", p.Module, p.Version, err)
		}
	}
	return known, nil
})

// read reads a module's files.
func (s Schemas) read(p project, archive string) error {
	files, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer files.Close()
	by, root := p.Name+" "+p.Version, p.Module+"@"+p.Version+"/"
	for _, file := range p.CRDs {
		content, err := fs.ReadFile(files, root+file)
		decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
		for err == nil {
			var crd apiextensionsv1.CustomResourceDefinition
			if err = decoder.Decode(&crd); err == nil && crd.Kind != "" {
				err = s.add(by, crd)
			}
		}
		if !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	for name, file := range p.Settings {
		content, err := fs.ReadFile(files, root+file)
		if err != nil {
			return err
		}
		s.keys[name] = append(s.keys[name], documented{by, string(content)})
	}
	return nil
}
