package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

var (
	link       = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)[^)]*\)`)
	reference  = regexp.MustCompile(`^\[[^\]]+\]:\s+(\S+)`)
	inlineCode = regexp.MustCompile("`[^`]*`")
	heading    = regexp.MustCompile(`^#{1,6}\s+(.*?)\s*#*$`)
)

// BrokenLinks returns each link between pages whose target file or heading does not exist. It ignores links to other
// sites.
func BrokenLinks(root string) ([]string, error) {
	pages, err := readPages(root)
	if err != nil {
		return nil, err
	}
	headings := map[string][]string{}
	for _, page := range pages {
		headings[page.path] = page.headings()
	}
	var broken []string
	for _, page := range pages {
		for i, line := range page.lines {
			for _, target := range line.links() {
				if reason := follow(root, page.path, target, headings); reason != "" {
					broken = append(broken, fmt.Sprintf("%s:%d: %s: %s", page.path, i+1, target, reason))
				}
			}
		}
	}
	return broken, nil
}

// links are the targets of the line's links within the repository.
func (l line) links() []string {
	if l.code != "" {
		return nil
	}
	text := inlineCode.ReplaceAllString(l.text, "")
	var targets []string
	for _, match := range slices.Concat(link.FindAllStringSubmatch(text, -1), reference.FindAllStringSubmatch(text, -1)) {
		if !strings.Contains(match[1], ":") {
			targets = append(targets, match[1])
		}
	}
	return targets
}

// follow returns what is wrong with a link on a page.
func follow(root, from, target string, headings map[string][]string) string {
	path, fragment, hasFragment := strings.Cut(target, "#")
	to := from
	if path != "" {
		to = filepath.Join(filepath.Dir(from), path)
	}
	if _, err := os.Stat(filepath.Join(root, to)); err != nil {
		return "there is no such file"
	}
	if hasFragment && filepath.Ext(to) == ".md" && !slices.Contains(headings[to], fragment) {
		return "there is no such heading"
	}
	return ""
}

// headings are the anchors that GitHub gives to the headings of a page.
func (p page) headings() []string {
	var anchors []string
	times := map[string]int{}
	for _, line := range p.lines {
		match := heading.FindStringSubmatch(line.text)
		if match == nil || line.code != "" {
			continue
		}
		anchor := anchorOf(match[1])
		if n := times[anchor]; n > 0 {
			anchors = append(anchors, fmt.Sprintf("%s-%d", anchor, n))
		} else {
			anchors = append(anchors, anchor)
		}
		times[anchor]++
	}
	return anchors
}

// linkText matches a link in a heading. Only the text of the link is a part of the anchor.
var linkText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

func anchorOf(title string) string {
	title = linkText.ReplaceAllString(title, "$1")
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsNumber(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		default:
			return -1
		}
	}, title)
}
