package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// Place is where a file holds a value, such as a version in the Makefile.
type Place struct {
	File string
	Find string // a regular expression, whose first group is the value
}

// find returns the content of the file in the tree at root, and where the value begins and ends in it.
func (p Place) find(root string) (content []byte, begin, end int, err error) {
	content, err = os.ReadFile(filepath.Join(root, p.File))
	if err != nil {
		return nil, 0, 0, err
	}
	at := regexp.MustCompile(p.Find).FindSubmatchIndex(content)
	if at == nil {
		return nil, 0, 0, fmt.Errorf("%s: nothing matches %s: restore the line from Git", p.File, p.Find)
	}
	return content, at[2], at[3], nil
}

// Read returns the value in the tree at root.
func (p Place) Read(root string) (string, error) {
	content, begin, end, err := p.find(root)
	return string(content[begin:end]), err
}

// Write replaces the value in the tree at root, and leaves every other byte as it is.
func (p Place) Write(root, value string) error {
	content, begin, end, err := p.find(root)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, p.File), slices.Replace(content, begin, end, []byte(value)...), 0o644)
}
