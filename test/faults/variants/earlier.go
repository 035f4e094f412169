package variants

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

const revisionsFile = "operator/internal/render/revisions.go"

var revision = regexp.MustCompile(`(?m)^\t\d+: \w+,\n`)

// Earlier returns the edits that make an operator an earlier release: it lacks the newest revision of the Pod template.
func Earlier(root string) ([]Edit, error) {
	text, err := os.ReadFile(filepath.Join(root, revisionsFile))
	if err != nil {
		return nil, err
	}
	revisions := revision.FindAllString(string(text), -1)
	if len(revisions) < 2 {
		return nil, fmt.Errorf("%s has %d revisions of the Pod template, want several: adapt the variant to the changed "+
			"source", revisionsFile, len(revisions))
	}
	return []Edit{{File: revisionsFile, Old: revisions[len(revisions)-1]}}, nil
}
