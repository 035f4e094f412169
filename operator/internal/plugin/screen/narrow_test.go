package screen

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/cachetest"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/overview"
)

// statusAt prints the screen of a cache on a terminal.
func statusAt(t *testing.T, columns int) string {
	t.Helper()
	var out bytes.Buffer
	cache := overview.CacheOf(withSlots(), cachetest.Now)
	if err := (Screen{Writer: &out, Now: cachetest.Now, Columns: columns}).Cache(cache, true); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestANarrowTerminalBreaksRowsBetweenColumnsAndTextsBetweenWords(t *testing.T) {
	page.Golden(t, "testdata/narrow.txt", statusAt(t, 60), *update)
}

func TestEachWordIsShownAtEachWidth(t *testing.T) {
	wordsOf := func(text string) []string { return slices.Sorted(slices.Values(strings.Fields(text))) }
	const least, most = 60, 200
	for columns := least; columns <= most; columns++ {
		text := statusAt(t, columns)
		if diff := cmp.Diff(wordsOf(statusAt(t, 0)), wordsOf(text)); diff != "" {
			t.Fatalf("at %d columns (-want +got):\n%s", columns, diff)
		}
		for line := range strings.Lines(text) {
			isFact := strings.Contains(line, ":  ") // Facts, such as Endpoint, are not broken.
			if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > columns && !isFact {
				t.Errorf("at %d columns, a terminal breaks %q", columns, line)
			}
		}
	}
}

func TestATextIsBrokenBetweenWords(t *testing.T) {
	for name, tc := range map[string]struct {
		columns    int
		text, want string
	}{
		"no terminal":                         {0, "one two three", "one two three"},
		"it fits":                             {13, "one two three", "one two three"},
		"it does not":                         {9, "one two three", "one two\n  three"},
		"a word is too long":                  {9, "one https://example.com two", "one\n  https://example.com\n  two"},
		"the text has lines":                  {9, "one two\nthree four", "one two\nthree\n  four"},
		"spaces at its beginning and its end": {11, "  one two three? ", "  one two\n  three? "},
		"a prefix that leaves no room":        {4, "one two", "one two"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Screen{Columns: tc.columns}.Wrap(tc.text, "  ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOnlyATerminalReflowsAParagraph(t *testing.T) {
	const text = "one two\nthree four"
	for columns, want := range map[int]string{0: text, 13: "one two three\nfour"} {
		if got := (Screen{Columns: columns}).Reflow(text); got != want {
			t.Errorf("at %d columns: %q, not %q", columns, got, want)
		}
	}
}
