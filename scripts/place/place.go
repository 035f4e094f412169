// Package place reads and writes single values in the files of a tree, such as a version in the Makefile, and leaves
// every other byte as it is.
package place

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// Place is where a file holds a value.
type Place struct {
	File string
	Find string // a regular expression, whose first group is the value
}

// In finds the value in the content of the file, and where it begins and ends.
func (p Place) In(content string) (value string, begin, end int, err error) {
	at := regexp.MustCompile(p.Find).FindStringSubmatchIndex(content)
	if at == nil {
		return "", 0, 0, fmt.Errorf("%s: nothing matches %s: restore the line from Git", p.File, p.Find)
	}
	return content[at[2]:at[3]], at[2], at[3], nil
}

// Read returns the value in the tree at root.
func (p Place) Read(root string) (string, error) {
	content, err := os.ReadFile(filepath.Join(root, p.File))
	if err != nil {
		return "", err
	}
	value, _, _, err := p.In(string(content))
	return value, err
}

// Write replaces the value in the tree at root.
func (p Place) Write(root, value string) error {
	content, err := os.ReadFile(filepath.Join(root, p.File))
	if err != nil {
		return err
	}
	_, begin, end, err := p.In(string(content))
	if err != nil {
		return err
	}
	text := string(content[:begin]) + value + string(content[end:])
	return os.WriteFile(filepath.Join(root, p.File), []byte(text), 0o644)
}
