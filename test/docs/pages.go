// Package docs reads the documentation, so that tests can check it: the API server must accept its manifests, and the
// targets of its links must exist.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// page is a Markdown file, by lines.
type page struct {
	path  string // from the root of the repository
	lines []line
}

// line is a line of a page.
type line struct {
	text string
	code string // the language of the code block around the line, or "code"; empty for other lines and for fences
	open bool   // it opens a code block
}

// fence opens or closes a code block, which in a list is indented.
var fence = regexp.MustCompile("^( *)```+ *([a-zA-Z]*)")

// readPages reads every Markdown file of the repository, except those of the programs that make site downloads.
func readPages(root string) ([]page, error) {
	var pages []page
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(entry.Name(), ".") && path != root
		if entry.IsDir() && (hidden || entry.Name() == "testdata" || entry.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if entry.IsDir() || filepath.Ext(path) != ".md" {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		pages = append(pages, page{path: name, lines: parseLines(string(content))})
		return err
	})
	return pages, err
}

func parseLines(content string) []line {
	var lines []line
	code, indent := "", ""
	for text := range strings.SplitSeq(content, "\n") {
		mark := fence.FindStringSubmatch(text)
		switch {
		case mark != nil && code == "":
			code, indent = strings.ToLower(mark[2]), mark[1]
			if code == "" {
				code = "code"
			}
			lines = append(lines, line{text: text, open: true})
		case mark != nil:
			code = ""
			lines = append(lines, line{text: text})
		default:
			lines = append(lines, line{text: strings.TrimPrefix(text, indent), code: code})
		}
		if code == "" {
			indent = ""
		}
	}
	return lines
}
