package schema

import (
	"math"
	"strings"
)

// integer returns a number at a bound or next to it, the default, or a number between the bounds.
func (d *draw) integer(f *Field) int64 {
	least, most := int64(0), int64(math.MaxInt32)
	if f.Minimum != nil {
		least = int64(*f.Minimum)
	}
	if f.Maximum != nil {
		most = int64(*f.Maximum)
	}
	choices := []int64{least, least + 1, least + d.Int64N(max(1, min(100, most-least)))}
	if f.Maximum != nil {
		choices = append(choices, most, most-1)
	}
	if f.Default != nil {
		if value, ok := decoded(f.Default.Raw).(int64); ok {
			choices = append(choices, value)
		}
	}
	return pick(d, choices)
}

// intsOrStrings are values for fields that accept both numbers and strings: numbers of Pods, percentages and
// quantities.
var intsOrStrings = []any{
	int64(0), int64(1), int64(2), int64(100), int64(64 << 20),
	"0%", "25%", "50%", "100%", "1", "500m", "64Mi", "128Mi", "1Gi",
}

// intOrString returns one of the values that CEL rules have as bounds, a value next to it, or any other value.
func (d *draw) intOrString(f *Field) any {
	choices := intsOrStrings
	if named := f.clues(); len(named) > 0 && d.IntN(2) == 0 {
		choices = named
	}
	if value := pick(d, choices); f.Pattern == "" || d.IntN(8) > 0 {
		return value
	}
	return d.matching(f.Pattern)
}

// words are texts for fields whose schema does not restrict the text.
var words = []string{"a", "team", "x-1", "caches", "example.com/x"}

// formats have a value for each format that the API server checks and a CRD is likely to use.
var formats = map[string]string{
	"date-time": "2026-01-02T03:04:05Z", "date": "2026-01-02", "duration": "5s", "cidr": "10.0.0.0/8", "ipv4": "10.0.0.1",
	"ipv6": "fd00::1", "ip": "10.0.0.1", "uri": "https://example.com", "hostname": "example.com", "email": "a@example.com",
	"uuid": "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "byte": "YQ==", "mac": "00:00:5e:00:53:01",
}

// text returns a text that matches the field's pattern, a text of the shortest or longest length, or a word.
func (d *draw) text(f *Field) string {
	if value := formats[f.Format]; value != "" {
		return value
	}
	var choices []string
	bounds := d.wild || d.IntN(4) == 0
	if f.MinLength != nil && bounds {
		choices = append(choices, letters(int(*f.MinLength)))
	}
	if f.MaxLength != nil && bounds {
		choices = append(choices, letters(int(*f.MaxLength)))
	}
	if f.Pattern != "" {
		choices = append(choices, d.matching(f.Pattern), d.matching(f.Pattern))
	} else {
		choices = append(choices, pick(d, words), pick(d, words))
	}
	return pick(d, choices)
}

func letters(n int) string { return strings.Repeat("a", n) }
