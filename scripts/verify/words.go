package main

import (
	"bytes"
	_ "embed"
	"fmt"
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

// problems lists the words of the lexicon in the prose of Markdown and Go files.
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

var capital = regexp.MustCompile(`[A-Z]`)

// goProse returns the comments and strings of each line, and the names of tests as words.
func goProse(content []byte) []string {
	if generated.Match(content) {
		return nil
	}
	lines := make([]string, bytes.Count(content, []byte("\n"))+1)
	file := token.NewFileSet().AddFile("", -1, len(content))
	var s scanner.Scanner
	s.Init(file, content, nil, scanner.ScanComments)
	for previous := token.ILLEGAL; ; {
		position, kind, text := s.Scan()
		if kind == token.EOF {
			return lines
		}
		isTest := kind == token.IDENT && previous == token.FUNC && strings.HasPrefix(text, "Test")
		if isTest {
			text = capital.ReplaceAllString(text, " $0") // TestReadsTwice becomes Test Reads Twice
		}
		if isTest || kind == token.COMMENT || kind == token.STRING {
			for i, line := range strings.Split(text, "\n") {
				lines[file.Line(position)-1+i] += line + "\n" // which no expression has
			}
		}
		previous = kind
	}
}
