// Package screen prints what the plugin found out, by kubectl's own printers.
package screen

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/printers"

	"golang.org/x/term"
)

// Screen is what the plugin prints on.
type Screen struct {
	io.Writer

	// Terminal: the writer is a terminal that supports escape sequences. Colors: its user wants colors.
	Terminal, Colors bool

	// Columns is how many characters a line has. If it is 0, the width is read from the terminal each time, because the
	// user may change it.
	Columns int

	// Now is the current time, from which ages are computed.
	Now time.Time
}

// New returns the screen of a writer. It has colors if it is a terminal whose user has not turned them off.
func New(out io.Writer) Screen {
	file, isFile := out.(*os.File)
	terminal := isFile && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb"
	return Screen{Writer: out, Terminal: terminal, Colors: terminal && os.Getenv("NO_COLOR") == "", Now: time.Now()}
}

// Color is the SGR parameter of a color.
type Color int

// Colors of states.
const (
	Red    Color = 31
	Green  Color = 32
	Yellow Color = 33
)

// painted returns a text in a color, on a terminal.
func (s Screen) painted(text string, color Color) string {
	if !s.Colors {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", color, text)
}

// age returns how long ago a time was, in the form that kubectl prints.
func (s Screen) age(since *time.Time) string {
	if since == nil {
		return "<unknown>"
	}
	return duration.HumanDuration(s.Now.Sub(*since))
}

// Document prints a value as json or yaml, with a kind that scripts can check.
func (s Screen) Document(format, kind string, value any) error {
	content, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode the %s: %w", kind, err)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(content, &fields); err != nil {
		return fmt.Errorf("encode the %s: %w", kind, err)
	}
	fields["apiVersion"], fields["kind"] = documentVersion, kind
	var printer printers.ResourcePrinter = &printers.JSONPrinter{}
	if format == "yaml" {
		printer = &printers.YAMLPrinter{}
	}
	return printer.PrintObj(&unstructured.Unstructured{Object: fields}, s)
}

// documentVersion is the version of documents that the plugin prints for programs. It is not an API version of the
// cluster.
const documentVersion = "kubectl.cache.example.com/v1"

// printable escapes the parts of a key that could control a terminal, hide text or break the columns, because a key may
// have any bytes.
func printable(key string) string {
	isOdd := func(r rune) bool { return !strconv.IsPrint(r) || r == utf8.RuneError }
	if !strings.ContainsFunc(key, isOdd) {
		return key
	}
	quoted := strconv.Quote(key)
	return quoted[1 : len(quoted)-1]
}

// table prints rows under a header, as kubectl get does, but breaks long rows between columns. Columns with a name that
// begins with "+" are for -o wide.
func (s Screen) table(columns []string, rows [][]string, wide bool) error {
	table := &metav1.Table{}
	for _, name := range columns {
		column := metav1.TableColumnDefinition{Name: name, Type: "string"}
		if name[0] == '+' {
			column.Name, column.Priority = name[1:], 1
		}
		table.ColumnDefinitions = append(table.ColumnDefinitions, column)
	}
	for _, row := range rows {
		cells := make([]any, len(row))
		for i, cell := range row {
			if cells[i] = cell; cell == "" {
				cells[i] = "-"
			}
		}
		table.Rows = append(table.Rows, metav1.TableRow{Cells: cells, Object: runtime.RawExtension{}})
	}
	var out strings.Builder
	if err := printers.NewTablePrinter(printers.PrintOptions{Wide: wide}).PrintObj(table, &out); err != nil {
		return err
	}
	_, err := io.WriteString(s, folded(out.String(), s.Width()))
	return err
}
