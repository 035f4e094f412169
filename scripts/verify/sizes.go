package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// maxLines is what can be read in one go; a longer file is two files that have not parted yet.
const maxLines = 300

// generatedMark is the line by which Go's tools know generated code.
var generatedMark = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// longFiles names the Go files that people write and that are too long to be read.
func longFiles(root string, files []string) ([]string, error) {
	var problems []string
	for _, name := range files {
		if filepath.Ext(name) != ".go" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		lines := bytes.Count(content, []byte("\n"))
		if lines > maxLines && !generatedMark.Match(content) {
			problems = append(problems, fmt.Sprintf("%s: %d lines, at most %d: split it", name, lines, maxLines))
		}
	}
	return problems, nil
}
