package dist

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

// recordFile is the release for machines. A folder that has it, and checksums of all else, is a release of ours.
const recordFile = "release.json"

// Record is the content of release.json.
type Record struct {
	Version   string   `json:"version"`
	Registry  string   `json:"registry"`
	Commit    string   `json:"commit"`
	Time      string   `json:"time"` // of the commit
	Go        string   `json:"go"`   // version that the images are built with
	Platforms []string `json:"platforms"`
	Memcached string   `json:"memcached"` // image of a Memcached that names none
	Images    []Image  `json:"images"`
}

// goVersion leaves out the experiments of this program: the images are built without any.
func goVersion() string {
	version, _, _ := strings.Cut(runtime.Version(), "-X:")
	return version
}

func writeRecord(c *Content) (*Record, error) {
	record := &Record{
		Version: c.Version, Registry: c.Registry, Commit: c.Commit, Time: c.Time, Go: goVersion(),
		Memcached: c.Memcached, Images: c.Images,
	}
	for _, platform := range c.Platforms {
		record.Platforms = append(record.Platforms, platform.String())
	}
	content, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return nil, err
	}
	return record, c.writeFile(recordFile, append(content, '\n'))
}

// ReadRecord reads the record of a release that was made.
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

// complete refuses a trial, whose images lack platforms that the manifests promise: its tags would be those of the
// release for good.
func (r *Record) complete() error {
	var missing []string
	for _, platform := range oci.Platforms() {
		if !slices.Contains(r.Platforms, platform.String()) {
			missing = append(missing, platform.String())
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s: the release was made without %s, as a trial, and its tags are final: "+
			"make it anew without --platform", recordFile, strings.Join(missing, ", "))
	}
	return nil
}

// Made is a release that was written.
type Made struct {
	Out string `json:"out"`
	*Record
	Files []File `json:"files"`
}

// File is one of a release, by its path in the folder.
type File struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

func newMade(out string, record *Record) (*Made, error) {
	files, err := readSums(out)
	return &Made{Out: out, Record: record, Files: files}, err
}

// Print writes it for people.
func (m *Made) Print(out io.Writer) error {
	fmt.Fprintf(out, "%s holds the release %s:\n", m.Out, m.Version)
	for _, file := range m.Files {
		if !strings.HasPrefix(file.Path, "images/") {
			fmt.Fprintf(out, "  %s\n", file.Path)
		}
	}
	fmt.Fprintln(out, "\nImages:")
	for _, i := range m.Images {
		fmt.Fprintf(out, "  %s:%s\n    %s\n    %s\n", i.Repository, i.Tag, i.Digest,
			cmp.Or(i.Layout, i.Package, "of an earlier release, not held here"))
	}
	_, err := fmt.Fprintf(out, "\nNext:\n  make release-push OUT=%s\n", m.Out)
	return err
}
