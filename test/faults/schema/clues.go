package schema

import (
	"regexp"
	"strconv"
	"strings"
)

// clue returns one of the clues, which are values from CEL rules. Half of the time, and if d has no clues, it returns
// nil.
func (d *draw) clue() any {
	if len(d.clues) == 0 || d.IntN(2) == 0 {
		return nil
	}
	return pick(d, d.clues)
}

// fits reports whether a clue may be the value of a field.
func (f *Field) fits(clue any) bool {
	if clue == nil || len(f.Enum) > 0 {
		return false
	}
	_, isText := clue.(string)
	return f.XIntOrString || f.Type == "string" && isText || f.Type == "integer" && !isText
}

var literal = regexp.MustCompile(`'([^']*)'|"([^"]*)"|\b\d+\b`)

// clues returns the values that stand in the CEL rules of a field, and the values next to these, such as 511 and 513
// for 512. Most rules are violated by one of these values, or have one as their bound.
func (f *Field) clues() (values []any) {
	for _, rule := range f.XValidations {
		values = append(values, cluesOf(rule.Rule)...)
	}
	return values
}

func cluesOf(rule string) (values []any) {
	for _, found := range literal.FindAllStringSubmatch(rule, -1) {
		if text := found[1] + found[2]; text != "" {
			values = append(values, text, text+"x", nextTo(text, 1), nextTo(text, -1))
		} else if number, err := strconv.ParseInt(found[0], 10, 64); err == nil {
			values = append(values, number, number+1, number-1)
		}
	}
	return values
}

var number = regexp.MustCompile(`\d+`)

// nextTo adds a number to the first number in a text: 512Ki becomes 513Ki.
func nextTo(text string, add int64) string {
	found := number.FindString(text)
	value, err := strconv.ParseInt(found, 10, 64)
	if err != nil {
		return text
	}
	return strings.Replace(text, found, strconv.FormatInt(value+add, 10), 1)
}
