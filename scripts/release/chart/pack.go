package chart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

// pack makes the package that helm package would make, but for what differs each time: the same files make the same
// bytes.
func (f Files) pack(modified time.Time) ([]byte, error) {
	// Helm looks for Chart.yaml first.
	paths := slices.SortedFunc(maps.Keys(f), func(a, b string) int {
		if first, second := a == "Chart.yaml", b == "Chart.yaml"; first != second {
			if first {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	var packed bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(zipped)
	for _, path := range paths {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: Name + "/" + path, Mode: 0o644, Size: int64(len(f[path])), ModTime: modified.UTC(),
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write([]byte(f[path])); err != nil {
			return nil, err
		}
	}
	err = errors.Join(archive.Close(), zipped.Close())
	return packed.Bytes(), err
}
