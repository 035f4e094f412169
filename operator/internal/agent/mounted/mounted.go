// Package mounted reads Secrets that the kubelet has mounted, and makes TLS connections with a mounted certificate.
//
// The kubelet writes each version of a Secret into a new folder, and then points the symbolic link ..data at it. The
// visible files are links into ..data.
package mounted

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Read returns the named entries of a Secret, except for missing ones. All entries are of the same version of the
// Secret. If the kubelet did not mount the folder, its files are read as they are.
func Read(dir string, names ...string) (map[string][]byte, error) {
	for range 3 {
		before, err := version(dir)
		if err != nil {
			return nil, err
		}
		entries, err := readAll(filepath.Join(dir, before), names)
		if err != nil {
			return nil, err
		}
		// The kubelet removes the old version once the link points at the new one, so the content that was read may be
		// incomplete.
		after, err := version(dir)
		if err != nil {
			return nil, err
		}
		if before == after {
			return entries, nil
		}
	}
	return nil, fmt.Errorf("%s changes faster than it can be read", dir)
}

// version returns the folder that ..data points at, relative to dir.
func version(dir string) (string, error) {
	target, err := os.Readlink(filepath.Join(dir, "..data"))
	if errors.Is(err, fs.ErrNotExist) {
		_, err = os.Stat(dir)
		return "", err
	}
	return target, err
}

func readAll(dir string, names []string) (map[string][]byte, error) {
	entries := map[string][]byte{}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		entries[name] = content
	}
	return entries, nil
}
