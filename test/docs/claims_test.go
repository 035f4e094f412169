package docs

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	source "github.com/example-inc/memcached-operator/internal/testing/page"
)

// TestThePagesClaimWhatTheTestsAssert checks that the figures on the pages are the ones that the end-to-end test of
// replaced Pods asserts.
func TestThePagesClaimWhatTheTestsAssert(t *testing.T) {
	slots := source.Read(t, "../e2e/slots_test.go")
	share, err := strconv.ParseFloat(source.Find(t, slots, `const kept = ([0-9.]+)`), 64)
	if err != nil {
		t.Fatal(err)
	}
	milliseconds, err := strconv.Atoi(source.Find(t, slots, `const staleBound = ([0-9]+) \* time.Millisecond`))
	if err != nil {
		t.Fatal(err)
	}
	percent := strconv.FormatFloat(100*share, 'f', -1, 64) + " %"
	keys := thousands(t, source.Find(t, slots, `const untouchedKeys = ([0-9]+)`))
	writes := thousands(t, source.Find(t, slots, `flag.Int\("slot-writes", ([0-9]+),`)) + " "
	bound := strconv.Itoa(milliseconds) + " ms"
	for page, claims := range map[string][]string{
		"README.md":          {"at least " + percent, writes + "writes a second"},
		"docs/comparison.md": {"at least " + percent + " of " + keys + " keys", writes + "writes a second"},
		"docs/slots.md": {
			"fewer than " + percent + " of " + keys + " keys", "write " + writes + "times a second",
			"overwritten or deleted more than " + bound + " before", "TestReplacedPodsKeepTheirKeys",
		},
		"docs/demo.md": {"fewer than " + percent + " of the keys"},
	} {
		text := strings.Join(strings.Fields(source.Read(t, "../../"+page)), " ")
		for _, claim := range claims {
			if !strings.Contains(text, claim) {
				t.Errorf("%s does not say %q, as the test does", page, claim)
			}
		}
	}
}

// TestMeasuredKeysHaveADate: a page that says how many keys were kept says when that was measured.
func TestMeasuredKeysHaveADate(t *testing.T) {
	measured := regexp.MustCompile(`[0-9,]+,000 of [0-9,]+,000`)
	dated := regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}`)
	for _, page := range []string{"README.md", "docs/comparison.md", "docs/slots.md"} {
		for paragraph := range strings.SplitSeq(source.Read(t, "../../"+page), "\n\n") {
			if found := measured.FindString(paragraph); found != "" && !dated.MatchString(paragraph) {
				t.Errorf("%s says %q without a date: write the figure that a test asserts, or the date of the measurement", page, found)
			}
		}
	}
}

// thousands is a number of four or five digits as pages write it.
func thousands(t *testing.T, digits string) string {
	t.Helper()
	number, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d,%03d", number/1000, number%1000)
}

// TestPagesHaveOnePlaceholderForTheRegistryAndOneForTheGitHost: readers replace these two placeholders, and the command
// rebrand replaces all other names.
func TestPagesHaveOnePlaceholderForTheRegistryAndOneForTheGitHost(t *testing.T) {
	placeholder := regexp.MustCompile(`\b(?:git|registry)\.example\.com/[\w.-]+`)
	known := regexp.MustCompile(`^(git|registry)\.example\.com/team$|^registry\.example\.com/(memcached|charts)`)
	for _, page := range allPages(t) {
		for i, line := range page.lines {
			for _, found := range placeholder.FindAllString(line.text, -1) {
				if !known.MatchString(found) {
					t.Errorf("%s:%d: %s: write git.example.com/team or registry.example.com/team", page.path, i+1, found)
				}
			}
		}
	}
}
