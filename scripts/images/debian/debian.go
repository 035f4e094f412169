// Package debian unpacks Debian's packages, including those of other architectures. This machine's apt fetches them
// from its mirrors and checks their signatures, with separate state, so this machine's packages and lists do not
// change.
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

// keyring has the keys of all suites of Debian. It is in the package debian-archive-keyring.
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// SuiteForSlots is the first suite whose memcached is new enough for slots.
const SuiteForSlots = "forky"

// Request is a package to unpack.
type Request struct {
	Package      string
	Also         []string // names of further packages to unpack
	Architecture string   // as Go names it
	Suite        string   // such as forky; empty: as in the sources of this machine's apt
	Without      []string // packages to leave out: the package depends on them, but its unpacked files do not need them
}

// Unpack writes the files of a package and of its dependencies below root. It returns the upstream version.
func Unpack(ctx context.Context, root string, r Request) (version string, err error) {
	state, err := os.MkdirTemp("", "debian-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(state)
	if r.Architecture == "ppc64le" {
		r.Architecture = "ppc64el"
	}
	if err := r.fetch(ctx, state); err != nil {
		return "", fmt.Errorf("fetch %s for %s: %w", r.Package, r.Architecture, err)
	}
	// In newer suites, these folders are links to folders in usr; in older suites, they are real folders.
	for _, name := range []string{"bin", "lib", "lib64", "sbin"} {
		err := errors.Join(os.MkdirAll(filepath.Join(root, "usr", name), 0o755),
			os.Symlink("usr/"+name, filepath.Join(root, name)))
		if err != nil {
			return "", err
		}
	}
	archives, err := filepath.Glob(filepath.Join(state, "archives/*.deb"))
	if err != nil {
		return "", err
	}
	for _, archive := range archives {
		if _, err := run(ctx, "dpkg-deb", "--extract", archive, root); err != nil {
			return "", err
		}
		if strings.HasPrefix(filepath.Base(archive), r.Package+"_") {
			if version, err = run(ctx, "dpkg-deb", "--field", archive, "Version"); err != nil {
				return "", err
			}
		}
	}
	return upstream(strings.TrimSpace(version)), nil
}

// fetch downloads the packages into the folder state, as if this machine had the requested architecture, and as if only
// the packages in Without were installed.
func (r Request) fetch(ctx context.Context, state string) error {
	for _, dir := range []string{"lists/partial", "archives/partial"} {
		if err := os.MkdirAll(filepath.Join(state, dir), 0o755); err != nil {
			return err
		}
	}
	var status strings.Builder
	for _, name := range r.Without {
		fmt.Fprintf(&status, "Package: %s\nStatus: install ok installed\nVersion: 9999\nArchitecture: %s\n"+
			"Multi-Arch: allowed\n\n", name, r.Architecture)
	}
	options := []string{
		"-qq",
		"-o", "Dir::State=" + state,
		"-o", "Dir::State::status=" + filepath.Join(state, "status"),
		"-o", "Dir::Cache=" + state,
		"-o", "APT::Architecture=" + r.Architecture,
		"-o", "APT::Architectures=" + r.Architecture,
		"-o", "APT::Sandbox::User=", // the user _apt might not be allowed to read the folder
		"-o", "Acquire::Languages=none",
		"-o", "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false",
	}
	if err := os.WriteFile(filepath.Join(state, "status"), []byte(status.String()), 0o644); err != nil {
		return err
	}
	if r.Suite != "" {
		mirror, err := Mirror(ctx)
		if err != nil {
			return err
		}
		sources := filepath.Join(state, "sources.list")
		source := fmt.Sprintf("deb [signed-by=%s] %s %s main\n", keyring, mirror, r.Suite)
		if err := os.WriteFile(sources, []byte(source), 0o644); err != nil {
			return err
		}
		options = append(options, "-o", "Dir::Etc::sourcelist="+sources, "-o", "Dir::Etc::sourceparts=/dev/null")
	}
	// The update may fail for some sources, as long as the download of the packages succeeds.
	_, update := run(ctx, "apt-get", append(options, "update")...)
	options = append(options, "install", "--yes", "--no-install-recommends", "--download-only", r.Package)
	if _, err := run(ctx, "apt-get", append(options, r.Also...)...); err != nil {
		return errors.Join(err, update)
	}
	return nil
}

// Mirror returns the mirror of Debian in the sources of this machine's apt. The sources of Ubuntu have no such mirror.
func Mirror(ctx context.Context) (string, error) {
	mirrors, err := run(ctx, "apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Label: Debian")
	if err != nil {
		return "", err
	}
	mirror, _, _ := strings.Cut(mirrors, "\n")
	if mirror == "" {
		return "", errors.New("apt has no mirror of Debian: run apt-get update, or add a mirror of Debian to apt's sources")
	}
	return mirror, nil
}

func run(ctx context.Context, program string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("this needs the program %s, on Debian or a distribution that is based on it: %w", program, err)
	}
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

var packaging = regexp.MustCompile(`^(?:\d+:)?(.+?)(?:-[^-]*)?$`)

// upstream returns a version without Debian's epoch and revision.
func upstream(version string) string { return packaging.ReplaceAllString(version, "$1") }
