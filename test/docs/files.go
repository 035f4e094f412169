package docs

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// internalPackages is where the packages of both programs are.
const internalPackages = "operator/internal"

// steps are the packages of a reconciliation, in the order of its steps. The tables list them first.
var steps = []string{"controller", "observe", "plan", "slots", "render", "apply", "status"}

// Files returns the tables of the packages and files of the operator, and of the agent. A package is described by the
// first sentence of its comment. A file is described by the first sentence of the comment before its imports. Without
// such a comment, the file is described by the first sentence of the comment of its first type or function that has a
// comment, preferably an exported one.
func Files(root string) (operator, agent string, err error) {
	folders, err := packageFolders(filepath.Join(root, internalPackages))
	if err != nil {
		return "", "", err
	}
	const head = "| file | does |\n| --- | --- |\n"
	operator, agent = head, head
	for _, folder := range folders {
		rows, err := packageRows(root, folder)
		if err != nil {
			return "", "", err
		}
		if strings.HasPrefix(folder+"/", "agent/") {
			agent += rows
		} else {
			operator += rows
		}
	}
	return operator, agent, nil
}

// packageFolders returns the folders below a folder, those of the steps first.
func packageFolders(root string) ([]string, error) {
	var others []string
	err := filepath.WalkDir(root, func(folder string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || !entry.IsDir():
			return err
		case entry.Name() == "testdata":
			return fs.SkipDir
		}
		name, err := filepath.Rel(root, folder)
		if name = filepath.ToSlash(name); !slices.Contains(steps, name) {
			others = append(others, name)
		}
		return err
	})
	return slices.Concat(steps, others), err
}

// packageRows returns the rows of a package and its files, or nothing if the folder has no such files.
func packageRows(root, folder string) (string, error) {
	sources, err := filepath.Glob(filepath.Join(root, internalPackages, folder, "*.go"))
	if err != nil {
		return "", err
	}
	var summary, rows string
	for _, source := range sources {
		base := filepath.Base(source)
		if strings.HasSuffix(base, "_test.go") || strings.HasPrefix(base, "zz_generated") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return "", err
		}
		about := firstSentence(leading(file))
		if about == "" {
			return "", fmt.Errorf("%s: write a comment before the imports that says what the file does", source)
		}
		if file.Doc != nil {
			summary = firstSentence(file.Doc)
		}
		rows += fmt.Sprintf("| [%s](../%s) | %s |\n", base, path.Join(internalPackages, folder, base), about)
	}
	if rows == "" {
		return "", nil
	}
	summary = strings.TrimPrefix(summary, "Package "+path.Base(folder)+" ")
	return fmt.Sprintf("| **`%s`** | **%s** |\n%s", folder, summary, rows), nil
}

// leading returns the comment that says what a file does.
func leading(file *ast.File) *ast.CommentGroup {
	first := file.Decls[0]
	for _, comment := range file.Comments {
		if comment.Pos() > file.Name.End() && comment.End() < first.Pos() && comment != commentOf(first) {
			return comment
		}
	}
	var unexported *ast.CommentGroup
	for _, declaration := range file.Decls {
		comment, exported := documented(declaration)
		if exported && comment != nil {
			return comment
		}
		unexported = cmp.Or(unexported, comment)
	}
	return unexported
}

// documented returns the comment of a type or function, and whether other packages can use it.
func documented(declaration ast.Decl) (comment *ast.CommentGroup, exported bool) {
	switch declared := declaration.(type) {
	case *ast.FuncDecl:
		return declared.Doc, declared.Name.IsExported()
	case *ast.GenDecl:
		if declared.Tok == token.TYPE {
			return declared.Doc, declared.Specs[0].(*ast.TypeSpec).Name.IsExported()
		}
	}
	return nil, false
}

// commentOf returns the comment of any declaration.
func commentOf(declaration ast.Decl) *ast.CommentGroup {
	if declared, ok := declaration.(*ast.GenDecl); ok {
		return declared.Doc
	}
	comment, _ := documented(declaration)
	return comment
}

// firstSentence returns the first sentence of a comment, for a cell of a table.
func firstSentence(comment *ast.CommentGroup) string {
	if comment == nil {
		return ""
	}
	sentence := (&doc.Package{}).Synopsis(comment.Text())
	return strings.ReplaceAll(strings.TrimSuffix(sentence, "."), "|", `\|`)
}
