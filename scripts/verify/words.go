package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

//go:embed words.yaml
var wordsYAML []byte

// lexicon is the content of words.yaml.
type lexicon struct {
	Words []struct {
		Find  *regexp.Regexp `json:"find"`
		Write string         `json:"write"` // what to write instead
	} `json:"words"`
	Except map[string][]string `json:"except"` // terms that are allowed, by path
}

// problems returns where the words of the lexicon are in the prose and in the names of files.
func (l *lexicon) problems(root string, files []string) ([]string, error) {
	var problems []string
	for _, name := range files {
		proseOf := proseOf(name)
		if proseOf == nil {
			continue
		}
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		problems = append(problems, l.inLine(name, 1, asWords(path.Base(name)))...)
		for i, text := range proseOf(content) {
			problems = append(problems, l.inLine(name, i+1, text)...)
		}
	}
	return problems, nil
}

func (l *lexicon) inLine(file string, number int, text string) (problems []string) {
	for _, word := range l.Words {
		for _, found := range word.Find.FindAllString(text, -1) {
			if !l.excepted(file, found) {
				problems = append(problems, fmt.Sprintf("%s:%d: %q: write: %s", file, number, found, word.Write))
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

// proseOf returns the function that finds the prose in a file like this. It is nil for a file that has no prose.
func proseOf(file string) func(content []byte) []string {
	switch name := path.Base(file); path.Ext(name) {
	case ".go":
		return goProse
	case ".md":
		return markdownProse
	case ".yaml", ".sh", ".toml", ".Dockerfile":
		return hashProse
	case "":
		if name == "Makefile" || name == "Dockerfile" || path.Dir(file) == ".ci" {
			return hashProse
		}
	}
	return nil
}

// inlineCode matches code within a line of Markdown or of a comment, because code is not prose.
var inlineCode = regexp.MustCompile("`[^`]*`")

// markdownProse returns each line without the code in it.
func markdownProse(content []byte) []string {
	lines, code := strings.Split(string(content), "\n"), false
	for i, line := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence {
			code = !code
		}
		lines[i] = inlineCode.ReplaceAllString(line, "")
		if fence || code {
			lines[i] = ""
		}
	}
	return lines
}

// hashComment matches a comment that begins with a number sign, as in YAML, Makefiles and shell scripts.
var hashComment = regexp.MustCompile(`(?:^|\s)@?#+@?\s+(.*)`)

// hashProse returns, for each line, the comment in it.
func hashProse(content []byte) []string {
	lines := strings.Split(string(content), "\n")
	for i, line := range lines {
		if comment := hashComment.FindStringSubmatch(line); comment != nil {
			lines[i] = inlineCode.ReplaceAllString(comment[1], "")
		} else {
			lines[i] = ""
		}
	}
	return lines
}

// generated matches the line by which Go's tools recognize generated code.
var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// goProse returns, for each line, its comments and strings, and the names in it as words. It leaves out names of other
// packages, because these can't be changed.
func goProse(content []byte) []string {
	if generated.Match(content) {
		return nil
	}
	lines := make([]string, bytes.Count(content, []byte("\n"))+1)
	files := token.NewFileSet()
	add := func(at token.Pos, text string) {
		first := files.Position(at).Line - 1
		for i, line := range strings.Split(text, "\n") {
			lines[first+i] += line + "\n" // no term matches across the newline
		}
	}
	file, _ := parser.ParseFile(files, "", content, parser.ParseComments|parser.SkipObjectResolution)
	for _, group := range file.Comments {
		for _, comment := range group.List {
			add(comment.Pos(), comment.Text)
		}
	}
	var visit func(ast.Node) bool
	visit = func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.BasicLit:
			if node.Kind == token.STRING {
				add(node.Pos(), node.Value)
			}
		case *ast.Ident:
			add(node.Pos(), asWords(node.Name))
		case *ast.SelectorExpr:
			ast.Inspect(node.X, visit)
			return false
		case *ast.KeyValueExpr:
			if _, isField := node.Key.(*ast.Ident); isField {
				ast.Inspect(node.Value, visit)
				return false
			}
		}
		return true
	}
	ast.Inspect(file, visit)
	return lines
}

var nameParts = regexp.MustCompile(`[A-Z][a-z0-9]*|[a-z0-9]+`)

// asWords separates the words of a name: TestReadsTwice becomes Test Reads Twice, and a_file-name becomes a file name.
func asWords(name string) string { return strings.Join(nameParts.FindAllString(name, -1), " ") }
