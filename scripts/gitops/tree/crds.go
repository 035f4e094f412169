package tree

import (
	"archive/zip"
	"bytes"
	_ "embed" // for crds.yaml
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

// project is a version of another project's Go module. CRDs are the module's files with CustomResourceDefinitions.
// Settings has, by the name of a ConfigMap, the module's file that documents all keys of that ConfigMap.
type project struct {
	Name, Module, Version string
	CRDs                  []string
	Settings              map[string]string
}

// ReadProjects adds the kinds that the API server accepts if these projects are installed, and the settings that the
// projects know.
func (b *Builder) ReadProjects() error {
	known, err := readProjects()
	if err != nil {
		return fmt.Errorf("read CustomResourceDefinitions from Go's module cache (the first time, go mod download needs "+
			"a network): %w", err)
	}
	for kind, definitions := range known.kinds {
		b.Schemas.kinds[kind] = append(b.Schemas.kinds[kind], definitions...)
	}
	b.Schemas.keys = known.keys
	return nil
}

// readProjects reads the modules from their archives, because the command go does not extract a module that requires a
// newer Go.
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
	command.Dir = os.TempDir() // not in a module, to whose go.sum the command would add lines
	command.Env = append(os.Environ(), "GOTOOLCHAIN=local", "GOWORK=off", "GOFLAGS=")
	out, failed := command.Output() // The command also fails if a module requires a newer Go.
	decoder := json.NewDecoder(bytes.NewReader(out))
	for _, p := range projects { // in the order of the output
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
