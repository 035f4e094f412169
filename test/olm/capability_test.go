package olm

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// levels are the capability levels of the Operator Framework, the lowest first.
var levels = []string{"Basic Install", "Seamless Upgrades", "Full Lifecycle", "Deep Insights", "Auto Pilot"}

var (
	// criterion matches a row of a level's table. proof matches a test in the second column of such a row, with the file
	// of the test.
	criterion = regexp.MustCompile(`(?m)^\| (.+) \| (.+) \|$`)
	proof     = regexp.MustCompile("^`(Test[A-Za-z0-9_]+)` in \\[[^]]*\\]\\(([^)]+)\\)$")
)

// TestTheCapabilityLevelIsTheHighestThatTestsProve: each criterion on the page names existing tests, or is marked as
// open. The level is the highest one up to which no criterion is open.
func TestTheCapabilityLevelIsTheHighestThatTestsProve(t *testing.T) {
	sections := strings.Split(content(t, "docs/capability-levels.md"), "\n## Level ")[1:]
	if len(sections) != len(levels) {
		t.Fatalf("the page has %d levels, want %d", len(sections), len(levels))
	}
	proved, below := "", true
	for i, section := range sections {
		if title := fmt.Sprintf("%d: %s\n", i+1, levels[i]); !strings.HasPrefix(section, title) {
			t.Errorf("a level is %.30q, want %q", section, title)
		}
		rows := criterion.FindAllStringSubmatch(section, -1)
		if len(rows) < 3 { // two of them are the head of the table
			t.Errorf("the page has no criteria of %s", levels[i])
		}
		for _, row := range rows[2:] {
			if row[2] == "not yet" {
				below = false
				continue
			}
			for text := range strings.SplitSeq(row[2], ", ") {
				assertExists(t, row[1], text)
			}
		}
		if below {
			proved = levels[i]
		}
	}
	var csv struct {
		Metadata struct{ Annotations map[string]string }
	}
	unmarshal(t, committed(t)[csvFile], &csv)
	if got := csv.Metadata.Annotations["capabilities"]; got != proved {
		t.Errorf("the annotation capabilities is %q, and the page proves %q", got, proved)
	}
}

// assertExists asserts that the test that proves a criterion exists. It ignores the build tags of the test's file.
func assertExists(t *testing.T, criterion, text string) {
	t.Helper()
	named := proof.FindStringSubmatch(text)
	if named == nil {
		t.Errorf("%s: %q is neither \"not yet\" nor `TestName` in [file](path)", criterion, text)
		return
	}
	file, err := os.ReadFile(filepath.Join(root, "docs", named[2]))
	if err != nil || !strings.Contains(string(file), "\nfunc "+named[1]+"(t *testing.T) {") {
		t.Errorf("%s: %s holds no %s: %v", criterion, named[2], named[1], err)
	}
}
