package oci

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// compile builds the packages of programs, which are of one folder and one overlay, by one call of Go. It returns
// their content by package.
func compile(ctx context.Context, platform v1.Platform, programs ...Program) (map[string][]byte, error) {
	tmp, err := os.MkdirTemp("", "image-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-overlay="+programs[0].Overlay)
	var packages []string
	for _, program := range programs {
		for _, p := range program.programs() {
			packages = append(packages, p.pkg)
			build.Args = append(build.Args, "-ldflags="+p.pkg+"=-s -w "+program.LDFlags)
		}
	}
	output := func(string) string { return filepath.Join(tmp, "program") } // Of one package: it may be called `.`.
	target := output("")
	if len(packages) > 1 {
		output, target = func(pkg string) string { return filepath.Join(tmp, path.Base(pkg)) }, tmp
	}
	build.Args = append(append(build.Args, "-o", target), packages...)
	build.Dir = programs[0].Dir
	if build.Env, err = environment(ctx, platform); err != nil {
		return nil, err
	}
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", build, err, out)
	}
	binaries := map[string][]byte{}
	for _, pkg := range packages {
		if binaries[pkg], err = os.ReadFile(output(pkg)); err != nil {
			return nil, err
		}
	}
	return binaries, nil
}

// environment is what Go builds a program with: nothing that the user has set may change the program, neither in the
// environment nor by `go env -w`. Where modules come from, and where they are kept, stays the user's choice.
func environment(ctx context.Context, platform v1.Platform) ([]string, error) {
	kept := []string{
		"GOAUTH", "GOCACHE", "GOINSECURE", "GOMODCACHE", "GONOPROXY", "GONOSUMDB", "GOPRIVATE", "GOPROXY", "GOSUMDB",
		"GOTOOLCHAIN", "GOVCS",
	}
	list := exec.CommandContext(ctx, "go", append([]string{"env", "-json"}, kept...)...)
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", list, err)
	}
	values := map[string]string{}
	if err := json.Unmarshal(out, &values); err != nil {
		return nil, fmt.Errorf("%s: %w", list, err)
	}
	env := os.Environ()
	for _, name := range kept {
		env = append(env, name+"="+values[name])
	}
	env = append(env, "GOENV=off", "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=", "GOFIPS140=",
		"GOAMD64=", "GOARM64=", "GOPPC64=", "CGO_ENABLED=0", "GOOS="+platform.OS, "GOARCH="+platform.Architecture)
	if platform.Variant != "" && platform.Architecture == "arm" {
		env = append(env, "GOARM="+platform.Variant[1:])
	}
	return env, nil
}
