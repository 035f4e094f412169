package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/test/bench/report"
)

const markers = "# Speed\n<!-- begin: make bench -->\n<!-- end: make bench -->\n"

func measuredNow(row, figure string) report.Report {
	return report.Report{{Name: row, Figures: []report.Figure{report.Tell(figure, 1, "ms")}}}
}

func TestRowsThatAreNotMeasuredStayOnThePage(t *testing.T) {
	page := filepath.Join(t.TempDir(), "speed.md")
	if err := os.WriteFile(page, []byte(markers), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, run := range []report.Report{
		measuredNow("images", "size"), measuredNow("drift", "healing"), measuredNow("images", "size of the image"),
	} {
		if err := publish(run, page); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := "| healing | 1 ms |  | - |\n| size of the image | 1 ms |  | - |\n"
	if !strings.Contains(string(content), want) || strings.Contains(string(content), "| size |") {
		t.Errorf("the page is\n%s\nwant in it\n%s", content, want)
	}
}

func TestAPageThatHasNoPlaceForFiguresIsLeftAlone(t *testing.T) {
	page := filepath.Join(t.TempDir(), "speed.md")
	if err := os.WriteFile(page, []byte("# Speed\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := publish(measuredNow("images", "size"), page); !errors.Is(err, report.ErrNoMarkers) {
		t.Errorf("error %v", err)
	}
}

func TestTheCommandThatRepeatsARunIsTold(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"all of it":                       {nil, "make bench"},
		"where it goes is of no interest": {[]string{"--page=x.md", "-o", "json", "--profiles=x"}, "make bench"},
		"what was chosen is": {
			[]string{"--only", "create,drift", "--runs=1", "--rest", "5s"},
			"make bench ARGS='--only create,drift --rest 5s --runs 1'",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var f flags
			cmd := f.command()
			if err := cmd.ParseFlags(tc.args); err != nil {
				t.Fatal(err)
			}
			cmd.Flags().Visit(f.note)
			if got := f.repeat(); got != tc.want {
				t.Errorf("repeat() = %s, want %s", got, tc.want)
			}
		})
	}
}

func TestWrongFlagsAreRefusedBeforeAnythingIsMeasured(t *testing.T) {
	tests := map[string]struct{ args, want string }{
		"a row that there is not": {"--only speed", "there is no such row"},
		"another output":          {"--output yaml", `--output "yaml": want text or json`},
		"no run at all":           {"--runs 0", "--runs 0: want at least 1"},
		"sizes that shrink":       {"--sizes 100,10", "--sizes 100,10: each has to be more than the one before"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cmd := new(flags).command()
			cmd.SetArgs(strings.Fields(tc.args))
			if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}
