package page

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Messages returns the texts that the source below a folder passes to a method of loggers, such as Error. The text is
// the second argument of logr's methods, and the first argument of slog's methods.
func Messages(t testing.TB, folder, method string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if call, isCall := node.(*ast.CallExpr); isCall && isLogged(call.Fun, method) {
				found = append(found, firstText(call.Args)...)
			}
			return true
		})
		return nil
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("%s: found %d calls of %s: %v", folder, len(found), method, err)
	}
	return found
}

// isLogged reports whether an expression is the method of a logger, and not a function of the package http with that
// name.
func isLogged(function ast.Expr, method string) bool {
	called, isMethod := function.(*ast.SelectorExpr)
	if !isMethod || called.Sel.Name != method {
		return false
	}
	of, isName := called.X.(*ast.Ident)
	return !isName || of.Name != "http"
}

// firstText returns the first text among the first two arguments, or nothing if neither is a text.
func firstText(arguments []ast.Expr) []string {
	for _, argument := range arguments[:min(2, len(arguments))] {
		if text, isText := argument.(*ast.BasicLit); isText && text.Kind == token.STRING {
			return []string{strings.Trim(text.Value, "`\"")}
		}
	}
	return nil
}
