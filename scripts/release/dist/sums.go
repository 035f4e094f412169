package dist

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// sumsFile lists the checksum of every other file, as sha256sum reads it.
const sumsFile = "SHA256SUMS"

func writeSums(dir string) error {
	names, err := list(dir)
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, name := range names {
		sum, err := checksum(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%s  %s\n", sum, name)
	}
	return os.WriteFile(filepath.Join(dir, sumsFile), sums.Bytes(), 0o644)
}

// list names the files of a release besides the checksums, in order.
func list(dir string) (names []string, err error) {
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && name != sumsFile {
			names = append(names, name)
		}
		return err
	})
	slices.Sort(names)
	return names, err
}

func checksum(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// readSums reads the checksums of a release.
func readSums(dir string) (files []File, err error) {
	content, err := os.ReadFile(filepath.Join(dir, sumsFile))
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(content))
	for lines.Scan() {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		if !ok {
			return nil, fmt.Errorf("%s: %q is no checksum: make the release anew", sumsFile, lines.Text())
		}
		files = append(files, File{Path: name, SHA256: sum})
	}
	return files, lines.Err()
}

// verify reports every file that is not as it was written, is lost, or was not written by the release.
func verify(dir string) error {
	files, err := readSums(dir)
	if err != nil {
		return err
	}
	names, err := list(dir)
	if err != nil {
		return err
	}
	var errs []error
	sums := map[string]bool{}
	for _, file := range files {
		sums[file.Path] = true
		sum, err := checksum(filepath.Join(dir, file.Path))
		if err == nil && sum != file.SHA256 {
			err = fmt.Errorf("%s has been changed: its checksum is %s, and %s has %s", file.Path, sum, sumsFile, file.SHA256)
		}
		errs = append(errs, err)
	}
	for _, name := range names {
		if !sums[name] {
			errs = append(errs, fmt.Errorf("%s has no checksum of %s: make the release anew", sumsFile, name))
		}
	}
	return errors.Join(errs...)
}
