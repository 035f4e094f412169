package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
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
		Write string         `json:"write"` // instead
	} `json:"words"`
	Except map[string][]string `json:"except"` // terms by paths
}

// problems lists the words of the lexicon in the prose and the names of Markdown and Go files.
func (l *lexicon) problems(root string, files []string) ([]string, error) {
	var problems []string
	for _, name := range files {
		proseOf := map[string]func([]byte) []string{".go": goProse, ".md": markdownProse}[path.Ext(name)]
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

// inlineCode is not prose.
var inlineCode = regexp.MustCompile("`[^`]*`")

// markdownProse returns each line without its code.
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

// generated is the line by which Go's tools recognize generated code.
var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// goProse returns the comments and strings of each line, and the names that it declares as words.
func goProse(content []byte) []string {
	if generated.Match(content) {
		return nil
	}
	lines := make([]string, bytes.Count(content, []byte("\n"))+1)
	add := func(first int, text string) {
		for i, line := range strings.Split(text, "\n") {
			lines[first-1+i] += line + "\n" // which no expression has
		}
	}
	eachText(content, add)
	eachName(content, func(line int, name string) { add(line, asWords(name)) })
	return lines
}

// eachText calls a function with each comment and string, and its first line.
func eachText(content []byte, call func(line int, text string)) {
	file := token.NewFileSet().AddFile("", -1, len(content))
	var s scanner.Scanner
	s.Init(file, content, nil, scanner.ScanComments)
	for {
		position, kind, text := s.Scan()
		if kind == token.EOF {
			return
		}
		if kind == token.COMMENT || kind == token.STRING {
			call(file.Line(position), text)
		}
	}
}

// eachName calls a function with each name that Go code declares, and its line. Names of others can't be changed.
func eachName(content []byte, call func(line int, name string)) {
	files := token.NewFileSet()
	file, _ := parser.ParseFile(files, "", content, parser.SkipObjectResolution) // the compiler reports errors
	ast.Inspect(file, func(node ast.Node) bool {
		for _, name := range declared(node) {
			if identifier, is := name.(*ast.Ident); is {
				call(files.Position(name.Pos()).Line, identifier.Name)
			}
		}
		return true
	})
}

// declared returns the expressions in which a node declares names. An expression that is no identifier declares none.
func declared(node ast.Node) []ast.Expr {
	switch node := node.(type) {
	case *ast.FuncDecl:
		return []ast.Expr{node.Name}
	case *ast.TypeSpec:
		return []ast.Expr{node.Name}
	case *ast.ValueSpec:
		return expressions(node.Names)
	case *ast.Field: // of a struct, parameters, results, and the methods of an interface
		return expressions(node.Names)
	case *ast.AssignStmt:
		if node.Tok == token.DEFINE {
			return node.Lhs
		}
	case *ast.RangeStmt:
		if node.Tok == token.DEFINE {
			return []ast.Expr{node.Key, node.Value}
		}
	}
	return nil
}

func expressions(names []*ast.Ident) (all []ast.Expr) {
	for _, name := range names {
		all = append(all, name)
	}
	return all
}

var nameParts = regexp.MustCompile(`[A-Z][a-z0-9]*|[a-z0-9]+`)

// asWords separates the words of a name: TestReadsTwice becomes Test Reads Twice, and a_file-name a file name.
func asWords(name string) string { return strings.Join(nameParts.FindAllString(name, -1), " ") }
