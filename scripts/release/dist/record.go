package dist

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/release/cut"
)

// recordFile describes the release for programs.
const recordFile = "release.json"

// Record is the content of release.json.
type Record struct {
	Version   string      `json:"version"`
	Registry  string      `json:"registry"`
	Commit    string      `json:"commit"`
	Time      string      `json:"time"` // of the commit
	Go        string      `json:"go"`   // version that the images are built with
	Platforms []string    `json:"platforms"`
	Memcached string      `json:"memcached"` // image of a Memcached that names none
	Images    []cut.Image `json:"images"`
}

// goVersion leaves out the experiments of this program: the images are built without any.
func goVersion() string {
	version, _, _ := strings.Cut(runtime.Version(), "-X:")
	return version
}

// seal writes what follows from all other parts of a release.
func (c *content) seal() error {
	record := &Record{
		Version: c.Version, Registry: c.Registry, Commit: c.Commit, Time: c.Time, Go: goVersion(),
		Memcached: c.Memcached, Images: c.Images,
	}
	for _, platform := range c.platforms {
		record.Platforms = append(record.Platforms, platform.String())
	}
	text, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return err
	}
	if err := c.writeFile(recordFile, append(text, '\n')); err != nil {
		return err
	}
	files, err := sums(c.out)
	if err != nil {
		return err
	}
	return c.writeFile(sumsFile, []byte(files))
}

// ReadRecord reads the record of the release in dir.
func ReadRecord(dir string) (*Record, error) {
	content, err := os.ReadFile(filepath.Join(dir, recordFile))
	if err != nil {
		return nil, fmt.Errorf("%s holds no release: make one by make release OUT=%[1]s: %w", dir, err)
	}
	record := &Record{}
	if err := json.Unmarshal(content, record); err != nil {
		return nil, fmt.Errorf("%s: %w", recordFile, err)
	}
	return record, nil
}

// complete refuses a trial for fewer platforms than the manifests promise: tags that are pushed are final.
func (r *Record) complete() error {
	var missing []string
	for _, platform := range oci.Platforms() {
		if !slices.Contains(r.Platforms, platform.String()) {
			missing = append(missing, platform.String())
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s: this release is a trial without %s, and tags that are pushed are final: "+
			"make it again without --platform", recordFile, strings.Join(missing, ", "))
	}
	return nil
}
