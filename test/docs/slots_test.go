package docs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// losses match a sentence which says that keys are lost, or that Pods start without keys. With slots, this is not true.
var losses = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\bkeys?\b[^.|;:]{0,40}\b(is|are|was|were|be) (all |then |already )*lost\b`),
	regexp.MustCompile(`(?i)\bloses? (all |its |the |their )*keys\b`),
	regexp.MustCompile(`(?i)\b(all|those|these|them) [^.|;:]{0,30}\b(is|are) lost\b`),
	regexp.MustCompile(`(?i)\b(re)?starts? (\w+ )?empty\b`),
	regexp.MustCompile(`(?i)\bempt(y|ies) (the|a|an|all|each|every|them|its|their)\b`),
	regexp.MustCompile(`(?i)\b(is|are|was|were|be) emptied\b`),
	regexp.MustCompile(`(?i)\bempty cache\b`),
}

// apiReference is generated from the types, and has the fields of slots itself.
const apiReference = "docs/api-reference.md"

func TestAPageThatSaysThatKeysAreLostNamesSlots(t *testing.T) {
	found := 0
	for _, page := range allPages(t) {
		loss := lossIn(page.prose())
		if loss == "" {
			continue
		}
		found++
		if !page.namesSlots() && page.path != apiReference {
			t.Errorf("%s says %q: add what it means with slots, and a link to slots.md", page.path, loss)
		}
	}
	if found < 10 {
		t.Errorf("the words are found on %d pages only", found)
	}
}

// lossIn returns the first words of a text which say that keys are lost. It returns an empty text if it finds none.
func lossIn(text string) string {
	for _, loss := range losses {
		if words := loss.FindString(text); words != "" {
			return words
		}
	}
	return ""
}

// prose returns the text of a page without code, in one line, because a sentence may extend over several lines of the
// page.
func (p page) prose() string {
	var text strings.Builder
	for _, line := range p.lines {
		if line.code == "" && !line.open {
			text.WriteString(line.text + " ")
		}
	}
	return text.String()
}

func (p page) namesSlots() bool {
	return filepath.Base(p.path) == "slots.md" || strings.Contains(p.prose(), "slots.md")
}

func TestWordsThatSayThatKeysAreLost(t *testing.T) {
	tests := map[string]struct {
		text string
		want bool
	}{
		"keys are lost":                      {"When a Pod is replaced, its keys are lost.", true},
		"keys of something are lost":         {"The keys of the deleted Pods are lost.", true},
		"those are lost":                     {"| `size` | those of the deleted Pods are lost |", true},
		"all are lost":                       {"| `memory` | all are lost, one Pod after another |", true},
		"a Pod loses its keys":               {"A Pod that is evicted then loses its keys.", true},
		"Pods start empty":                   {"New Pods start empty.", true},
		"memcached restarts empty":           {"The kernel kills it, and it restarts empty.", true},
		"a change empties the cache":         {"A change that replaces the Pods empties the cache.", true},
		"Pods are emptied":                   {"Both Pods are emptied.", true},
		"an empty list":                      {"all, as does an empty list", false},
		"keys are kept":                      {"With slots, the keys are kept.", false},
		"an object that is lost":             {"If both records are lost, the new operator cannot know.", false},
		"a key that moves, and other losses": {"Keys move. A Node is lost.", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := lossIn(tc.text); (got != "") != tc.want {
				t.Errorf("%q: found %q", tc.text, got)
			}
		})
	}
}

// TestEveryFixInARunbookSaysWhatItCosts: the reader of a runbook has no time to find out that a change empties the
// cache.
func TestEveryFixInARunbookSaysWhatItCosts(t *testing.T) {
	found := 0
	for _, page := range allPages(t) {
		if filepath.Dir(page.path) != "docs/runbooks" {
			continue
		}
		found++
		fixes := page.fixes()
		if len(fixes) == 0 {
			t.Errorf("%s has no section \"## Act\"", page.path)
		}
		for _, fix := range fixes {
			if !strings.Contains(fix, "Costs: ") {
				t.Errorf("%s: %s\nsays not what it costs: write \"Costs: \", such as \"Costs: nothing.\"", page.path, fix)
			}
		}
	}
	if found == 0 {
		t.Error("no runbook is found")
	}
}

// fixes returns the items of the list in the section Act of a runbook, or the whole section if it has no list.
func (p page) fixes() []string {
	var fixes []string
	section, inside, listed := "", false, false
	for _, line := range p.lines {
		switch {
		case line.code == "" && strings.HasPrefix(line.text, "## "):
			inside = line.text == "## Act"
		case !inside:
		case line.code == "" && strings.HasPrefix(line.text, "- "):
			listed = true
			fixes = append(fixes, line.text)
		case listed && strings.HasPrefix(line.text, "  "):
			fixes[len(fixes)-1] += " " + strings.TrimSpace(line.text)
		default:
			section += line.text + "\n"
		}
	}
	if !listed && section != "" {
		return []string{section}
	}
	return fixes
}
