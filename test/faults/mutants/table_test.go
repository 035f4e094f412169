package mutants

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestThePageKeepsTheRowsOfOtherMutants(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	const before = "# Page\n<!-- " + mark + " -->\n| gone long ago | a rule | 1 |\n<!-- end -->\nThe rest\n"
	if err := os.WriteFile(page, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	first, second, third := All()[0], All()[1], All()[2]
	for _, found := range []Found{
		{first, "a rule", "7"}, {second, "another rule", "1"}, {third, "", "1..50"}, {first, "a rule", "3"},
	} {
		if err := WritePage(page, []Found{found}); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := "# Page\n<!-- " + mark + " -->\n" + header + "| " + first.Name + " | a rule | 3 |\n" +
		"| " + second.Name + " | another rule | 1 |\n| " + third.Name + " | none | not with 1..50 |\n" +
		"| " + All()[3].Name + " | | not tried yet |\n"
	if !strings.HasPrefix(string(content), want) || !strings.HasSuffix(string(content), "\n<!-- end -->\nThe rest\n") {
		t.Errorf("page:\n%s\nwant it to begin with:\n%s", content, want)
	}
	if strings.Contains(string(content), "gone long ago") {
		t.Error("the page still has a mutant that does not exist")
	}
}
