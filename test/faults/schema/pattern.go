package schema

import (
	"regexp/syntax"
	"strings"
)

// matching returns a short text that matches a regular expression, or one of words if the pattern is not a valid
// regular expression.
func (d *draw) matching(pattern string) string {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return pick(d, words)
	}
	var text strings.Builder
	d.write(&text, parsed.Simplify())
	return text.String()
}

func (d *draw) write(to *strings.Builder, e *syntax.Regexp) {
	switch e.Op {
	case syntax.OpLiteral:
		to.WriteString(string(e.Rune))
	case syntax.OpCharClass:
		to.WriteRune(d.oneOf(e.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		to.WriteByte('a')
	case syntax.OpAlternate:
		d.write(to, pick(d, e.Sub))
	case syntax.OpConcat, syntax.OpCapture:
		for _, part := range e.Sub {
			d.write(to, part)
		}
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		for range d.times(e) {
			d.write(to, e.Sub[0])
		}
	default: // The anchors match no characters.
	}
}

// oneOf returns a character of a regular expression's character class. The class is given as pairs: the first and the
// last character of each range.
func (d *draw) oneOf(class []rune) rune {
	if len(class) == 0 {
		return 'a'
	}
	pair := 2 * d.IntN(len(class)/2)
	first, last := class[pair], min(class[pair+1], class[pair]+25)
	return first + rune(d.IntN(int(last-first)+1))
}

func (d *draw) times(e *syntax.Regexp) int {
	switch e.Op {
	case syntax.OpStar:
		return d.IntN(4)
	case syntax.OpPlus:
		return 1 + d.IntN(3)
	case syntax.OpQuest:
		return d.IntN(2)
	default:
		return e.Min
	}
}
