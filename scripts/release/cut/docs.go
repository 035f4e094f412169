package cut

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

// documented is where the documentation names the version that it is about.
const documented = "docs/install.md"

// versionRange is where a ClusterExtension names the versions that it follows.
const versionRange = "gitops/operator/olm-v1/version/kustomization.yaml"

var documentedVersion = regexp.MustCompile(`VERSION=(\d+\.\d+\.\d+)`)

// stampDocs writes the version where documentation tells to use it, and leaves alone where it tells of the past.
// Readers are not sent to a candidate.
func stampDocs(dir string, f *facts) error {
	if len(f.version.Pre) > 0 {
		return nil
	}
	page, err := os.ReadFile(filepath.Join(dir, documented))
	if err != nil {
		return err
	}
	match := documentedVersion.FindSubmatch(page)
	if match == nil {
		return fmt.Errorf("%s has no VERSION=x.y.z: it was changed by hand; put it back", documented)
	}
	old, err := semver.Parse(string(match[1]))
	if err != nil {
		return fmt.Errorf("%s: VERSION=%s: %w", documented, match[1], err)
	}
	replacer := strings.NewReplacer(append(f.imagePairs(old), f.versionPairs(old)...)...)
	return walk(dir, func(name string, content []byte) error {
		isDoc := filepath.Ext(name) == ".md" && (strings.HasPrefix(name, "docs/") || filepath.Base(name) == "README.md")
		text := replacer.Replace(string(content))
		if !isDoc && name != versionRange || text == string(content) {
			return nil
		}
		return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
	})
}

// imagePairs are the names of images, with the version as their tag and without, before and after.
func (f *facts) imagePairs(old semver.Version) []string {
	from, to := nameOf(f.oldImage), nameOf(f.image)
	was, is := old.String(), f.version.String()
	return []string{
		from + ":" + was, to + ":" + is,
		from + "-bundle:v" + was, to + "-bundle:v" + is,
		from + "-catalog:v" + was, to + "-catalog:v" + is,
		from, to,
		nameOf(f.oldAgent) + ":" + tagOf(f.oldAgent), nameOf(f.agent) + ":" + tagOf(f.agent),
		nameOf(f.oldAgent), nameOf(f.agent),
		agentName + ":" + tagOf(f.oldAgent), agentName + ":" + tagOf(f.agent),
	}
}

// versionPairs are what stands before a version that is to be used, with the version and with the range of its patches,
// before and after.
func (f *facts) versionPairs(old semver.Version) (pairs []string) {
	for _, before := range []string{
		"VERSION=", "newTag: ", "version: ", "--version ", "ref=v",
		bundle.Package + ":", bundle.Package + ".v", bundle.Package + "/", "-bundle:v", "-catalog:v",
	} {
		pairs = append(pairs, before+old.String(), before+f.version.String())
	}
	for _, before := range []string{"version: ", "value: "} {
		pairs = append(pairs, before+patches(old), before+patches(f.version))
	}
	return pairs
}

// patches is the range of a version and its patches.
func patches(v semver.Version) string { return fmt.Sprintf("%d.%d.x", v.Major, v.Minor) }
