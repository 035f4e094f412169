package clients

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// useless are folders of packages that no program reads.
var useless = []string{"usr/share/doc", "usr/share/info", "usr/share/lintian", "usr/share/locale", "usr/share/man"}

// packFile writes what is in a folder into an archive.
func packFile(archive, folder string) error {
	to, err := os.Create(archive)
	if err != nil {
		return err
	}
	return errors.Join(pack(to, folder, ""), to.Close())
}

// pack writes what is in a folder into an archive, below a path in the archive.
func pack(to io.Writer, folder, under string) error {
	archive := tar.NewWriter(to)
	err := filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(folder, file)
		if err != nil || inside == "." {
			return err
		}
		if slices.Contains(useless, inside) {
			return fs.SkipDir
		}
		return packEntry(archive, file, path.Join(under, inside), entry)
	})
	return errors.Join(err, archive.Close())
}

func packEntry(archive *tar.Writer, file, name string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	target := ""
	if entry.Type() == fs.ModeSymlink {
		if target, err = os.Readlink(file); err != nil {
			return err
		}
	}
	header, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return err
	}
	header.Name, header.Uid, header.Gid, header.Uname, header.Gname = name, 0, 0, "", ""
	if entry.IsDir() {
		header.Name += "/"
	}
	if err := archive.WriteHeader(header); err != nil || !entry.Type().IsRegular() {
		return err
	}
	content, err := os.Open(file)
	if err != nil {
		return err
	}
	defer content.Close()
	_, err = io.Copy(archive, content)
	return err
}
