package chart

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// template is an object whose places hold marks. In its text, each mark becomes a piece of Go template.
type template struct {
	object *yaml.RNode
	pieces []string // a mark is the index of its piece
	err    error    // all that went wrong
}

var (
	markPattern  = regexp.MustCompile(` ?PIECE-(\d+)-`)
	wholeLine    = regexp.MustCompile(`^ *(?:- )?PIECE-(\d+)-(?:: "")?$`)
	nindentCalls = regexp.MustCompile(`nindent (\d+)`)
)

func (t *template) mark(piece string) string {
	t.pieces = append(t.pieces, piece)
	return fmt.Sprintf("PIECE-%d-", len(t.pieces)-1)
}

// lookup finds the field at a path. The path is written as kyaml wants it, with blanks between its parts.
func lookup(object *yaml.RNode, path string) (*yaml.RNode, error) {
	found, err := object.Pipe(yaml.Lookup(strings.Fields(path)...))
	if err == nil && found == nil {
		err = errors.New("there is no such field")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", idOf(object), path, err)
	}
	return found, nil
}

// place finds the field at a path, and its index in the node around it.
func (t *template) place(path string) (around *yaml.Node, index int) {
	inner, err := lookup(t.object, path)
	if err != nil {
		t.fail(err)
		return nil, -1
	}
	outer, err := lookup(t.object, path[:strings.LastIndex(path, " ")])
	if err != nil {
		t.fail(err)
		return nil, -1
	}
	return outer.YNode(), slices.Index(outer.YNode().Content, inner.YNode())
}

func (t *template) fail(err error) { t.err = errors.Join(t.err, err) }

// set puts a piece in the place of a value. If the piece begins with a line break, it is a block below the key.
func (t *template) set(path, piece string) {
	if around, i := t.place(path); i >= 0 {
		around.Content[i] = yaml.NewStringRNode(t.mark(piece)).YNode()
		around.Style = 0 // Braces of YAML and of templates don't go well together.
	}
}

// when keeps a field, or an item of a list, only under a condition.
func (t *template) when(path, condition string) {
	around, i := t.place(path)
	if i < 0 {
		return
	}
	first := i
	if around.Kind == yaml.MappingNode {
		first = i - 1 // the key
	}
	around.Content = slices.Concat(around.Content[:first], t.line(around, "{{- if "+condition+" }}"),
		around.Content[first:i+1], t.line(around, "{{- end }}"), around.Content[i+1:])
}

// add adds a piece as the last of a map or list.
func (t *template) add(path, piece string) {
	around, err := lookup(t.object, path)
	if err != nil {
		t.fail(err)
		return
	}
	around.YNode().Content = append(around.YNode().Content, t.line(around.YNode(), piece)...)
}

// line is an entry of a map or list whose line a piece replaces.
func (t *template) line(around *yaml.Node, piece string) []*yaml.Node {
	entry := []*yaml.Node{yaml.NewStringRNode(t.mark(piece)).YNode()}
	if around.Kind == yaml.MappingNode {
		empty := yaml.NewStringRNode("").YNode()
		empty.Style = yaml.DoubleQuotedStyle
		entry = append(entry, empty)
	}
	return entry
}

// text writes the template. What looks like a template in the object itself, such as in an alert, stays as it is.
func (t *template) text() (string, error) {
	if t.err != nil {
		return "", t.err
	}
	raw, err := t.object.String()
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(raw, "{{", "{{ \"{{\" }}")) {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if found := wholeLine.FindStringSubmatch(strings.TrimSuffix(line, "\n")); found != nil {
			text.WriteString(indented(t.piece(found[1]), indent) + "\n")
			continue
		}
		text.WriteString(markPattern.ReplaceAllStringFunc(line, func(mark string) string {
			piece := t.piece(markPattern.FindStringSubmatch(mark)[1])
			if block, found := strings.CutPrefix(piece, "\n"); found {
				return "\n" + indented(block, indent)
			}
			return strings.Repeat(" ", strings.Count(mark, " ")) + piece
		}))
	}
	return text.String(), nil
}

func (t *template) piece(index string) string {
	i, _ := strconv.Atoi(index) // The pattern lets in nothing but digits.
	return t.pieces[i]
}

// indented moves a piece, and what it indents itself, to the right.
func indented(piece string, by int) string {
	piece = nindentCalls.ReplaceAllStringFunc(piece, func(call string) string {
		n, _ := strconv.Atoi(nindentCalls.FindStringSubmatch(call)[1])
		return fmt.Sprintf("nindent %d", n+by)
	})
	margin := strings.Repeat(" ", by)
	return margin + strings.ReplaceAll(piece, "\n", "\n"+margin)
}
