package campaign

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Totals are the sums of all results of a campaign.
type Totals struct {
	Seeds      int
	Steps      map[string]int // by action
	Effects    map[string]int // number of steps that had an effect, by action
	Requests   int
	Violations map[string]int // number of seeds, by rule
	Failed     []uint64       // seeds
	Seconds    float64

	started time.Time
}

// NewTotals returns totals without any result.
func NewTotals() *Totals {
	return &Totals{
		Steps: map[string]int{}, Effects: map[string]int{}, Violations: map[string]int{}, Failed: []uint64{},
		started: time.Now(),
	}
}

// Add adds a result.
func (t *Totals) Add(r Result) {
	t.Seeds++
	for _, step := range r.Plan.Steps {
		t.Steps[step.Do]++
	}
	for action, count := range r.Effects {
		t.Effects[action] += count
	}
	t.Requests += r.Requests
	for _, violation := range r.Violations {
		t.Violations[violation.Rule]++
	}
	if len(r.Violations) > 0 {
		t.Failed = append(t.Failed, r.Seed)
	}
	t.Seconds = time.Since(t.started).Seconds()
}

// String returns a line which says how much was done, and how fast.
func (t *Totals) String() string {
	line := fmt.Sprintf("%s, %s, %s of the operator, %s", count(t.Seeds, "seed"), count(sum(t.Steps), "step"),
		count(t.Requests, "request"), count(sum(t.Violations), "violation"))
	if t.Seconds > 0 {
		line += fmt.Sprintf(", %.1f seeds a minute", float64(t.Seeds)*60/t.Seconds)
	}
	return line
}

// WithoutEffect returns the actions of which no step had an effect.
func (t *Totals) WithoutEffect() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(t.Steps)), func(action string) bool { return t.Effects[action] > 0 })
}

// Summary returns the text for the end of a campaign: the line of String, then the steps by action and the violations
// by rule, the most frequent first.
func (t *Totals) Summary() string {
	text := t.String() + "\n\nSteps, and how many of them had an effect:\n" + listed(t.Steps, t.Effects)
	if len(t.Violations) > 0 {
		text += "\nViolations, by rule:\n" + listed(t.Violations, nil)
	}
	return text
}

// listed returns the counts as a table, with parts as a second column if it is not nil.
func listed(counts, parts map[string]int) string {
	var text strings.Builder
	for _, name := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	}) {
		fmt.Fprintf(&text, "%6d", counts[name])
		if parts != nil {
			fmt.Fprintf(&text, "%6d", parts[name])
		}
		fmt.Fprintf(&text, "  %s\n", name)
	}
	return text.String()
}

func sum(counts map[string]int) (sum int) {
	for _, count := range counts {
		sum += count
	}
	return sum
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
