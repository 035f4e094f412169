package page

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Constant is a text constant of the source, with what its comment says.
type Constant struct {
	Name, Value, Meaning string
}

// Constants returns the constants of the Go package in a folder, in the order of the source, from the blocks whose
// comment begins with this text. Each constant must have a comment: either on the lines above it, beginning with its
// name, or on the same line, without its name.
func Constants(t testing.TB, folder, begin string) []Constant {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var found []Constant
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range file.Decls {
			block, ok := declaration.(*ast.GenDecl)
			if ok && block.Tok == token.CONST && strings.HasPrefix(block.Doc.Text(), begin) {
				found = append(found, constantsOf(t, block)...)
			}
		}
	}
	if len(found) == 0 {
		t.Fatalf("%s has no constants with the comment %q", folder, begin)
	}
	return found
}

func constantsOf(t testing.TB, block *ast.GenDecl) (found []Constant) {
	t.Helper()
	for _, spec := range block.Specs {
		constant := spec.(*ast.ValueSpec)
		literal, ok := constant.Values[0].(*ast.BasicLit)
		if !ok {
			t.Fatalf("the constant %s is no text", constant.Names[0].Name)
		}
		value, err := strconv.Unquote(literal.Value)
		if err != nil {
			t.Fatal(err)
		}
		name := constant.Names[0].Name
		meaning := strings.TrimSpace(constant.Comment.Text())
		if meaning == "" {
			meaning = WithoutSubject(t, name, constant.Doc.Text())
		}
		found = append(found, Constant{Name: name, Value: value, Meaning: meaning})
	}
	return found
}

// FieldComments returns the comment of each field of a type in a file, by the name of the field.
func FieldComments(t testing.TB, path, name string) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	comments := map[string]string{}
	ast.Inspect(file, func(node ast.Node) bool {
		spec, isType := node.(*ast.TypeSpec)
		if !isType || spec.Name.Name != name {
			return true
		}
		for _, field := range spec.Type.(*ast.StructType).Fields.List {
			comments[field.Names[0].Name] = strings.Join(strings.Fields(field.Doc.Text()), " ")
		}
		return false
	})
	return comments
}

// WithoutSubject returns the text of a comment in one line, without its first word, the name that it documents.
func WithoutSubject(t testing.TB, subject, comment string) string {
	t.Helper()
	comment = strings.Join(strings.Fields(comment), " ")
	for _, begin := range []string{": ", " is ", " are ", " means that "} {
		if rest, found := strings.CutPrefix(comment, subject+begin); found {
			return rest
		}
	}
	t.Fatalf("the comment of %s does not begin with %q, but is %q", subject, subject+": ", comment)
	return ""
}

// Cell is a text that can stand in a table.
func Cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
