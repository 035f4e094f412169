package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// maxLines is the limit of a Go file.
const maxLines = 300

// generatedMark is the line by which Go's tools recognize generated code.
var generatedMark = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// longFiles reports Go files that are too long and not generated.
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
