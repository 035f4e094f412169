package oci

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// nonroot is the user of all our programs, the one that distroless images have made common.
const nonroot = 65532

// Program is an image that holds one static Go program, and maybe another one that starts it, and nothing else.
type Program struct {
	Package    string // as `go build` takes it, from the folder Dir
	Supervisor string // package of the program that starts it; none by default
	Dir        string // the current one by default
	LDFlags    string
	Overlay    string // file that replaces sources, as `go build -overlay` takes it
	Name       string // of the program in the image; the package's last element by default
	Platform   v1.Platform
	Labels     map[string]string
}

// Operator is the operator's image of the sources in dir. Those, go.mod, go.sum and the version are all that it
// depends on. The Dockerfile builds the same program.
func Operator(dir, version string) Program {
	return Program{Dir: dir, Package: "./operator/cmd/manager", LDFlags: "-X main.version=" + version}
}

// agentPackage is the agent's program. The file VERSION in it is a part of the program.
const agentPackage = "./operator/cmd/agent"

// Agent is the agent's image of the sources in dir, and its version, which is not the operator's.
func Agent(dir string) (Program, string, error) {
	version, err := os.ReadFile(filepath.Join(dir, agentPackage, "VERSION"))
	program := Program{Dir: dir, Package: agentPackage, Supervisor: agentPackage + "/supervisor"}
	return program, strings.TrimSpace(string(version)), err
}

// Host is the platform of this machine's nodes.
func Host() v1.Platform { return v1.Platform{OS: "linux", Architecture: runtime.GOARCH} }

// KernelName is what the kernel calls an architecture, and QEMU as well.
func KernelName(architecture string) string {
	switch architecture {
	case "amd64":
		return "x86_64"
	case "arm64":
		return "aarch64"
	}
	return architecture
}

// Pause is the image that holds a Pod's namespaces.
func Pause(ctx context.Context) (v1.Image, error) {
	return Program{Package: "github.com/example-inc/memcached-operator/scripts/images/pause"}.Build(ctx)
}

// Build compiles the program and puts it into an image.
func (p Program) Build(ctx context.Context) (v1.Image, error) {
	if p.Platform.Architecture == "" {
		p.Platform = Host()
	}
	binaries, err := compile(ctx, p.Platform, p)
	if err != nil {
		return nil, err
	}
	return p.image(binaries)
}

// image puts compiled programs into an image.
func (p Program) image(binaries map[string][]byte) (v1.Image, error) {
	config := v1.Config{
		User:       fmt.Sprintf("%d:%d", nonroot, nonroot),
		WorkingDir: "/",
		Env:        []string{"PATH=/"},
		Labels:     p.Labels,
	}
	var files []file
	for _, program := range p.programs() {
		config.Entrypoint = append(config.Entrypoint, "/"+program.name)
		files = append(files, file{path: program.name, content: binaries[program.pkg], mode: 0o555})
	}
	return assemble(p.Platform, config, files)
}

// Sources names the folders of this module that the program is made of, from Dir on.
func (p Program) Sources(ctx context.Context) ([]string, error) {
	list := exec.CommandContext(ctx, "go", "list", "-deps",
		"-f={{if not .Standard}}{{if .Module.Main}}{{.ImportPath}} {{.Module.Path}}{{end}}{{end}}")
	for _, program := range p.programs() {
		list.Args = append(list.Args, program.pkg)
	}
	list.Dir = p.Dir
	list.Env = append(os.Environ(), "GOFLAGS=", "GOOS=linux", "CGO_ENABLED=0")
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", list, err)
	}
	var folders []string
	for line := range strings.Lines(string(out)) {
		importPath, module, _ := strings.Cut(strings.TrimSpace(line), " ")
		folders = append(folders, strings.TrimPrefix(importPath, module+"/"))
	}
	return folders, nil
}

type named struct{ name, pkg string }

// programs are those of the image. Each gets the next one, and the Pod's arguments, as its own arguments.
func (p Program) programs() []named {
	programs := []named{{cmp.Or(p.Name, path.Base(p.Package)), p.Package}}
	if p.Supervisor != "" {
		programs = append([]named{{path.Base(p.Supervisor), p.Supervisor}}, programs...)
	}
	return programs
}
