package oci

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// nonroot has the IDs of the user and the group of all programs in the project's images, as in distroless images.
const nonroot = "65532:65532"

// agentPackage is the agent's program. The file VERSION in this package is part of the program.
const agentPackage = "./operator/cmd/agent"

// Program is an image of one static Go program, and optionally of the program that starts it.
type Program struct {
	Package    string // in a form that `go build` accepts in the folder Dir
	Supervisor string // package of the program that starts Package; empty: none
	Dir        string // empty: the current folder
	LDFlags    string
	Platform   v1.Platform
}

// Operator returns the operator's image, made from the sources in dir. The image depends only on these sources, go.mod,
// go.sum and the version. The Dockerfile builds the same program.
func Operator(dir, version string) Program {
	return Program{Dir: dir, Package: "./operator/cmd/manager", LDFlags: "-X main.version=" + version}
}

// Plugin returns the plugin of kubectl, made from the sources in dir. It is not put into an image.
func Plugin(dir, version string) Program {
	return Program{Dir: dir, Package: "./operator/cmd/kubectl-memcached", LDFlags: "-X main.version=" + version}
}

// Agent returns the agent's image, made from the sources in dir, and its version, which differs from the operator's.
func Agent(dir string) (Program, string, error) {
	version, err := os.ReadFile(filepath.Join(dir, agentPackage, "VERSION"))
	program := Program{Dir: dir, Package: agentPackage, Supervisor: agentPackage + "/supervisor"}
	return program, strings.TrimSpace(string(version)), err
}

// Snapshot returns the image of the program that saves caches. The program is in a separate module, because it needs
// the client libraries of clouds. It has the operator's version.
func Snapshot(dir, version string) Program {
	const folder = "operator/cmd/snapshot"
	return Program{
		Dir: filepath.Join(dir, folder), Package: "github.com/example-inc/memcached-operator/" + folder,
		LDFlags: "-X main.version=" + version,
	}
}

// Pause is the program that keeps a Pod's namespaces alive.
var Pause = Program{Package: "github.com/example-inc/memcached-operator/scripts/images/pause"}

// packages returns the program's packages, in the order in which the programs start each other.
func (p Program) packages() []string {
	if p.Supervisor != "" {
		return []string{p.Supervisor, p.Package}
	}
	return []string{p.Package}
}

// Build compiles the program for its platform, by default that of this machine, and makes an image of it.
func (p Program) Build(ctx context.Context) (v1.Image, error) {
	if p.Platform.Architecture == "" {
		p.Platform = Host()
	}
	images, err := buildFor(ctx, p.Platform, []Program{p})
	if err != nil {
		return nil, err
	}
	return images[0], nil
}

// BuildAll builds programs for each of the platforms, and returns an index for each program. The images are the same as
// those of Build. Building several programs of one folder takes less time than building each alone.
func BuildAll(
	ctx context.Context, platforms []v1.Platform, update func(string), programs ...Program,
) ([]v1.ImageIndex, error) {
	images := make([][]v1.Image, len(programs))
	for _, platform := range platforms {
		update(platform.String())
		built, err := buildFor(ctx, platform, programs)
		if err != nil {
			return nil, err
		}
		for i, image := range built {
			images[i] = append(images[i], image)
		}
	}
	indexes := make([]v1.ImageIndex, len(programs))
	for i := range programs {
		var err error
		if indexes[i], err = Index(images[i]...); err != nil {
			return nil, err
		}
	}
	return indexes, nil
}

// buildFor compiles programs, and makes an image of each.
func buildFor(ctx context.Context, platform v1.Platform, programs []Program) ([]v1.Image, error) {
	dir, err := os.MkdirTemp("", "image-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	folders := map[string][]Program{} // programs of other folders may belong to another module
	for _, program := range programs {
		folders[program.Dir] = append(folders[program.Dir], program)
	}
	for _, inFolder := range folders {
		if err := compile(ctx, platform, dir, inFolder...); err != nil {
			return nil, err
		}
	}
	images := make([]v1.Image, len(programs))
	for i, program := range programs {
		if images[i], err = program.image(dir, platform); err != nil {
			return nil, err
		}
	}
	return images, nil
}

// Compile compiles a program into the folder dir. Its platform may be one that has no containers. The file is named
// after the package, with .exe on Windows. Like a program in an image, it has the same bytes every time.
func Compile(ctx context.Context, p Program, dir string) error {
	return compile(ctx, p.Platform, dir, p)
}

// compile compiles programs of one folder by one call of Go.
func compile(ctx context.Context, platform v1.Platform, dir string, programs ...Program) error {
	build := []string{"go", "build", "-trimpath", "-buildvcs=false"}
	var packages []string
	for _, program := range programs {
		for _, p := range program.packages() {
			packages = append(packages, p)
			build = append(build, "-ldflags="+p+"=-s -w "+program.LDFlags)
		}
	}
	env, err := environment(ctx, platform)
	if err != nil {
		return err
	}
	build = append(append(build, "-o", dir+"/"), packages...)
	return worktree.Run(ctx, programs[0].Dir, env, build...)
}

// image makes an image of the programs in dir. Each program starts the next one, with the Pod's arguments.
func (p Program) image(dir string, platform v1.Platform) (v1.Image, error) {
	config := v1.Config{User: nonroot, WorkingDir: "/", Env: []string{"PATH=/"}}
	var files []file
	for _, p := range p.packages() {
		program := path.Base(p)
		content, err := os.ReadFile(filepath.Join(dir, program))
		if err != nil {
			return nil, err
		}
		config.Entrypoint = append(config.Entrypoint, "/"+program)
		files = append(files, file{path: program, content: content, mode: 0o555})
	}
	return assemble(platform, config, files)
}

// environment returns the environment of `go build`. Settings of the user, in variables or by `go env -w`, must not
// change the compiled program. They only decide from where modules are fetched, and where they are stored.
func environment(ctx context.Context, platform v1.Platform) ([]string, error) {
	kept := []string{
		"GOAUTH", "GOCACHE", "GOINSECURE", "GOMODCACHE", "GONOPROXY", "GONOSUMDB", "GOPRIVATE", "GOPROXY", "GOSUMDB",
		"GOTOOLCHAIN", "GOVCS",
	}
	values, err := lines(exec.CommandContext(ctx, "go", append([]string{"env"}, kept...)...))
	if err != nil {
		return nil, err
	}
	env := os.Environ()
	for i, value := range values {
		env = append(env, kept[i]+"="+value)
	}
	if platform.Architecture == "arm" {
		env = append(env, "GOARM="+strings.TrimPrefix(platform.Variant, "v"))
	}
	return append(env, "GOENV=off", "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=", "GOFIPS140=", "GOAMD64=", "GOARM64=",
		"GOPPC64=", "CGO_ENABLED=0", "GOOS="+platform.OS, "GOARCH="+platform.Architecture), nil
}

// Sources returns the folders of this module that have the packages of the program, relative to Dir.
func (p Program) Sources(ctx context.Context) ([]string, error) {
	list := exec.CommandContext(ctx, "go", append([]string{
		"list", "-deps", "-f={{if not .Standard}}{{if .Module.Main}}{{.ImportPath}} {{.Module.Path}}{{end}}{{end}}",
	}, p.packages()...)...)
	list.Dir = p.Dir
	list.Env = append(os.Environ(), "GOFLAGS=", "GOOS=linux", "CGO_ENABLED=0")
	folders, err := lines(list)
	for i, line := range folders {
		importPath, module, _ := strings.Cut(line, " ")
		folders[i] = strings.TrimPrefix(importPath, module+"/")
	}
	return folders, err
}

// lines returns the lines that a command prints.
func lines(command *exec.Cmd) ([]string, error) {
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), nil
}
