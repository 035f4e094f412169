// Package debian unpacks programs, also of other architectures, from Debian's packages. The machine's own apt fetches
// them, from the mirrors that it is set up with and checked by their signatures, but into a folder aside: the machine's
// packages, architectures and lists stay as they are.
package debian

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// Request says what to unpack.
type Request struct {
	Package      string
	Architecture string   // as Debian calls it
	Suite        string   // such as trixie; empty: as the machine's apt is set up
	Without      []string // packages that it depends on, and that what is unpacked can do without
}

// Architecture is what Debian calls an architecture of Go.
func Architecture(goarch string) string {
	if goarch == "ppc64le" {
		return "ppc64el"
	}
	return goarch
}

// Unpack writes the files of a package, and of those that it depends on, below root. It returns the version, without
// what Debian adds to it.
func Unpack(ctx context.Context, root string, r Request) (version string, err error) {
	dir, err := os.MkdirTemp("", "debian-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	a := apt{dir: dir, request: r}
	if err := a.prepare(ctx); err != nil {
		return "", err
	}
	if err := a.fetch(ctx); err != nil {
		return "", err
	}
	return a.unpack(ctx, root)
}

// apt is the machine's apt with a state of its own.
type apt struct {
	dir     string
	request Request
}

func (a apt) path(elements ...string) string {
	return filepath.Join(append([]string{a.dir}, elements...)...)
}

// installed is how dpkg writes down that it has a package.
const installed = `Package: %s
Status: install ok installed
Version: 9999
Architecture: %s
Multi-Arch: allowed

`

// prepare writes the state: a machine of the other architecture that has nothing but what is not wanted.
func (a apt) prepare(ctx context.Context) error {
	for _, tool := range []string{"apt-get", "dpkg-deb"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("packages of %s are fetched by Debian's %s, on Debian and its kin: %w",
				a.request.Architecture, tool, err)
		}
	}
	for _, dir := range []string{"state/lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(a.path(dir), 0o755); err != nil {
			return err
		}
	}
	var status strings.Builder
	for _, name := range a.request.Without {
		fmt.Fprintf(&status, installed, name, a.request.Architecture)
	}
	if err := os.WriteFile(a.path("status"), []byte(status.String()), 0o644); err != nil || a.request.Suite == "" {
		return err
	}
	mirror, err := mirror(ctx)
	if err != nil {
		return err
	}
	return os.WriteFile(a.path("sources.list"), []byte(source(mirror, a.request.Suite)), 0o644)
}

// keyring holds the keys of all of Debian's suites. The package debian-archive-keyring brings it.
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

func source(mirror, suite string) string {
	return fmt.Sprintf("deb [signed-by=%s] %s %s main\n", keyring, mirror, suite)
}

// mirror asks the machine's apt where it has Debian from.
func mirror(ctx context.Context) (string, error) {
	targets := exec.CommandContext(ctx, "apt-get", "indextargets", "--format", "$(REPO_URI)",
		"Created-By: Packages", "Label: Debian")
	out, err := targets.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", targets, err)
	}
	first, _, _ := strings.Cut(string(out), "\n")
	if first == "" {
		return "", errors.New("apt names no mirror of Debian: run apt-get update, or leave the suite away")
	}
	return first, nil
}

func (a apt) fetch(ctx context.Context) error {
	// What one of several sources lacks, others may have: what counts is whether the package can be had.
	update := a.run(ctx, "update")
	install := a.run(ctx, "install", "--yes", "--no-install-recommends", "--download-only", a.request.Package)
	if install != nil {
		return errors.Join(fmt.Errorf("fetch %s for %s: %w", a.request.Package, a.request.Architecture, install), update)
	}
	return nil
}

func (a apt) run(ctx context.Context, args ...string) error {
	options := []string{
		"-qq",
		"-o", "Dir::State=" + a.path("state"),
		"-o", "Dir::State::status=" + a.path("status"),
		"-o", "Dir::Cache=" + a.path("cache"),
		"-o", "APT::Architecture=" + a.request.Architecture,
		"-o", "APT::Architectures=" + a.request.Architecture,
		"-o", "APT::Sandbox::User=", // the user _apt may not read the folder
		"-o", "Acquire::Languages=none",
		"-o", "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false",
	}
	if a.request.Suite != "" {
		options = append(options,
			"-o", "Dir::Etc::sourcelist="+a.path("sources.list"), "-o", "Dir::Etc::sourceparts=/dev/null")
	}
	out, err := exec.CommandContext(ctx, "apt-get", append(options, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("apt-get %s: %w\n%s", args[0], err, out)
	}
	return nil
}

// unpack puts all that was fetched below root.
func (a apt) unpack(ctx context.Context, root string) (version string, err error) {
	if err := mergeUsr(root); err != nil {
		return "", err
	}
	archives, err := filepath.Glob(a.path("cache/archives/*.deb"))
	if err != nil {
		return "", err
	}
	for _, archive := range archives {
		if out, err := exec.CommandContext(ctx, "dpkg-deb", "--extract", archive, root).CombinedOutput(); err != nil {
			return "", fmt.Errorf("unpack %s: %w\n%s", filepath.Base(archive), err, out)
		}
		if strings.HasPrefix(filepath.Base(archive), a.request.Package+"_") {
			version, err = versionOf(ctx, archive)
			if err != nil {
				return "", err
			}
		}
	}
	return version, nil
}

// mergeUsr makes the links that newer suites count on, and that older ones replace by folders.
func mergeUsr(root string) error {
	for _, name := range []string{"bin", "lib", "lib64", "sbin"} {
		if err := os.MkdirAll(filepath.Join(root, "usr", name), 0o755); err != nil {
			return err
		}
		if err := os.Symlink("usr/"+name, filepath.Join(root, name)); err != nil {
			return err
		}
	}
	return nil
}

func versionOf(ctx context.Context, archive string) (string, error) {
	out, err := exec.CommandContext(ctx, "dpkg-deb", "--field", archive, "Version").Output()
	if err != nil {
		return "", fmt.Errorf("version of %s: %w", filepath.Base(archive), err)
	}
	return upstream(strings.TrimSpace(string(out))), nil
}

var packaging = regexp.MustCompile(`^(?:\d+:)?(.+?)(?:-[^-]*)?$`)

// upstream is a version without Debian's epoch and revision.
func upstream(version string) string { return packaging.FindStringSubmatch(version)[1] }
