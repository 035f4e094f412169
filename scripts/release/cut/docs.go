package cut

import (
	"os"
	"path/filepath"
	"strings"

	versions "github.com/example-inc/memcached-operator/scripts/versions/facts"
)

// versionRange is where a ClusterExtension names the versions that it follows.
const versionRange = "gitops/operator/olm-v1/version/kustomization.yaml"

// stampDocs writes the images and their versions where documentation tells to use them, and leaves alone where it tells
// of the past. Readers are not sent to a candidate.
func stampDocs(dir string, f *facts) error {
	if len(f.version.Pre) > 0 {
		return nil
	}
	replacer := strings.NewReplacer(nameOf(f.oldImage), nameOf(f.image), nameOf(f.oldAgent), nameOf(f.agent))
	stamped := []string{versionRange}
	err := walk(dir, func(name string, content []byte) error {
		if filepath.Ext(name) != ".md" {
			return nil
		}
		stamped = append(stamped, name)
		text := replacer.Replace(string(content))
		if text == string(content) {
			return nil
		}
		return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
	})
	if err != nil {
		return err
	}
	return versions.Write(dir, stamped, versions.Operator, versions.Agent)
}
