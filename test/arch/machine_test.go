//go:build e2e

package arch

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/example-inc/memcached-operator/scripts/cluster/preflight"
)

// pull pulls an image from the registry, as a Node of the given platform does.
func pull(t *testing.T, ref string, platform v1.Platform) v1.Image {
	t.Helper()
	parsed, err := name.ParseReference(ref)
	if err != nil {
		t.Fatal(err)
	}
	image, err := remote.Image(parsed, remote.WithPlatform(platform), remote.WithContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// logSize logs how many bytes a Node pulls.
func logSize(t *testing.T, image v1.Image) {
	t.Helper()
	manifest, err := image.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	for _, layer := range manifest.Layers {
		size += layer.Size
	}
	t.Logf("%.1f MB compressed", float64(size)/1e6)
}

// machine is the file system of an image, and the way to start the image's program in it.
type machine struct {
	root     string
	emulator []string
	config   v1.Config
}

// unpack writes an image's files into a folder, and adds an emulator if this machine can't run the image's programs.
func unpack(t *testing.T, image v1.Image) machine {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	m := machine{root: t.TempDir(), config: config.Config}
	files := mutate.Extract(image)
	defer files.Close()
	archive := tar.NewReader(files)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			m.write(t, header.Name, archive)
		}
	}
	emulator := preflight.Emulator(config.Architecture)
	if emulator == "" {
		return m
	}
	source, err := preflight.Program(emulator)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Open(source)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	m.write(t, emulator, program)
	m.emulator = []string{"/" + emulator}
	return m
}

func (m machine) write(t *testing.T, name string, content io.Reader) {
	t.Helper()
	file := filepath.Join(m.root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, content); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// command returns a command that runs the program in the image's file system and not as root, as a Node would start it.
func (m machine) command(ctx context.Context, program string, user uint32, args ...string) *exec.Cmd {
	line := append(append([]string{}, m.emulator...), program)
	line = append(line, args...)
	command := exec.CommandContext(ctx, line[0], line[1:]...)
	command.Dir, command.Env = "/", m.config.Env
	command.SysProcAttr = &syscall.SysProcAttr{
		Chroot: m.root, Credential: &syscall.Credential{Uid: user, Gid: user}, Pdeathsig: syscall.SIGKILL,
	}
	return command
}

// programs are the paths of the image's programs. A Node starts the first one, and each starts the next.
func (m machine) programs() []string {
	var programs []string
	for _, program := range m.config.Entrypoint {
		programs = append(programs, m.find(program))
	}
	return programs
}

func (m machine) find(program string) string {
	if path.IsAbs(program) {
		return program
	}
	for _, variable := range m.config.Env {
		if dir, isPath := strings.CutPrefix(variable, "PATH="); isPath {
			return path.Join(dir, program)
		}
	}
	return "/" + program
}
