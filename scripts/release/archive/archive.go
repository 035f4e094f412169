// Package archive packs files for a release. From the same files and the same time, it always makes the same bytes.
package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"time"
)

// File is one file in an archive.
type File struct {
	Name    string
	Mode    int64
	Content []byte
}

// Pack makes a tar.gz that any platform can read. Each file in it has the modification time at, such as
// 2026-01-31T12:00:00Z, and no owner. The level is a compression level of gzip.
func Pack(at string, level int, files ...File) ([]byte, error) {
	modified, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&packed, level)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(zipped)
	for _, f := range files {
		err := archive.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: f.Name, Mode: f.Mode, Size: int64(len(f.Content)), ModTime: modified.UTC(),
		})
		if err != nil {
			return nil, err
		}
		if _, err := archive.Write(f.Content); err != nil {
			return nil, err
		}
	}
	err = errors.Join(archive.Close(), zipped.Close())
	return packed.Bytes(), err
}
