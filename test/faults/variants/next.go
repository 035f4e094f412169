package variants

import (
	"os"
	"path/filepath"
)

// nextRevision is the file that adds a revision of the Pod template, and its path in the operator.
const (
	nextRevision = "test/integration/testdata/next_revision.go"
	nextFile     = "operator/internal/render/next_revision.go"
)

// Next returns the edit that makes an operator a later release: it has one more revision of the Pod template.
func Next(root string) ([]Edit, error) {
	text, err := os.ReadFile(filepath.Join(root, nextRevision))
	if err != nil {
		return nil, err
	}
	return []Edit{{File: nextFile, New: string(text)}}, nil
}
