package main

import (
	_ "embed"
	"fmt"
	"go/scanner"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"sigs.k8s.io/yaml"
)

//go:embed words.yaml
var wordsYAML []byte

// lexicon is the content of words.yaml.
type lexicon struct {
	Words  map[string]string   `json:"words"`  // replacements by expressions
	Except map[string][]string `json:"except"` // terms by paths

	expression   *regexp.Regexp    // all terms, each in a named group
	replacements map[string]string // by group
}

func readLexicon(content []byte) (*lexicon, error) {
	l := &lexicon{}
	if err := yaml.UnmarshalStrict(content, l); err != nil {
		return nil, fmt.Errorf("words.yaml: %w", err)
	}
	l.replacements = map[string]string{}
	var groups []string
	for _, term := range slices.Sorted(maps.Keys(l.Words)) {
		group := fmt.Sprintf("word%d", len(groups))
		groups = append(groups, fmt.Sprintf("(?P<%s>%s)", group, term))
		l.replacements[group] = l.Words[term]
	}
	var err error
	if l.expression, err = regexp.Compile(`\b(?:` + strings.Join(groups, "|") + `)\b`); err != nil {
		return nil, fmt.Errorf("words.yaml: %w", err)
	}
	return l, nil
}

// problems lists the words of the lexicon in the prose of Markdown and Go files.
func (l *lexicon) problems(root string, files []string) ([]string, error) {
	var problems []string
	for _, name := range files {
		linesOf := map[string]func([]byte) map[int][]string{".go": goLines, ".md": markdownLines}[path.Ext(name)]
		if linesOf == nil {
			continue
		}
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		if generatedMark.Match(content) {
			continue
		}
		lines := linesOf(content)
		for _, number := range slices.Sorted(maps.Keys(lines)) {
			for _, text := range lines[number] {
				problems = append(problems, l.line(name, number, text)...)
			}
		}
	}
	return problems, nil
}

func (l *lexicon) line(file string, number int, text string) []string {
	var problems []string
	for _, match := range l.expression.FindAllStringSubmatchIndex(text, -1) {
		word := text[match[0]:match[1]]
		if l.excepted(file, word) {
			continue
		}
		for group, name := range l.expression.SubexpNames() {
			if replacement := l.replacements[name]; replacement != "" && match[2*group] >= 0 {
				problems = append(problems, fmt.Sprintf("%s:%d: %q: write: %s", file, number, word, replacement))
			}
		}
	}
	return problems
}

func (l *lexicon) excepted(file, word string) bool {
	for where, words := range l.Except {
		within := where == file || strings.HasSuffix(where, "/") && strings.HasPrefix(file, where)
		if within && (len(words) == 0 || slices.Contains(words, word)) {
			return true
		}
	}
	return false
}

// inlineCode is not prose.
var inlineCode = regexp.MustCompile("`[^`]*`")

// markdownLines returns the lines outside of code.
func markdownLines(content []byte) map[int][]string {
	lines, code := map[int][]string{}, false
	for i, line := range strings.Split(string(content), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		} else if !code {
			lines[i+1] = []string{inlineCode.ReplaceAllString(line, "")}
		}
	}
	return lines
}

// goLines returns the lines of comments and strings, and the names of tests as words.
func goLines(content []byte) map[int][]string {
	lines := map[int][]string{}
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(content))
	var s scanner.Scanner
	s.Init(file, content, nil, scanner.ScanComments)
	for previous := token.ILLEGAL; ; {
		position, kind, text := s.Scan()
		if kind == token.EOF {
			return lines
		}
		isTest := kind == token.IDENT && previous == token.FUNC && strings.HasPrefix(text, "Test")
		if isTest {
			text = asWords(text)
		}
		if isTest || kind == token.COMMENT || kind == token.STRING {
			for i, line := range strings.Split(text, "\n") {
				number := file.Line(position) + i
				lines[number] = append(lines[number], line)
			}
		}
		previous = kind
	}
}

// asWords separates the words of a name in camel case: TestReadsTwice becomes Test Reads Twice.
func asWords(name string) string {
	var words strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			words.WriteByte(' ')
		}
		words.WriteRune(r)
	}
	return words.String()
}
