package report

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJudge(t *testing.T) {
	tests := map[string]struct {
		got  Figure
		want Figure
	}{
		"below what it may be": {
			Judge("time", 1.3, AtMost(1.5, "times"), "13 s against 10 s", "noisy"),
			Figure{Name: "time", Measured: "1.30 times (13 s against 10 s; noisy)", Want: "at most 1.50 times", Verdict: Reached},
		},
		"as much as it may be":     {Judge("n", 6, AtMost(6, "")), Figure{Name: "n", Measured: "6", Want: "at most 6", Verdict: Reached}},
		"more than it may be":      {Judge("n", 1, AtMost(0, "")), Figure{Name: "n", Measured: "1", Want: "at most 0", Verdict: Missed}},
		"as much as it has to be":  {Judge("n", 0.95, AtLeast(0.95, "")), Figure{Name: "n", Measured: "0.95", Want: "at least 0.95", Verdict: Reached}},
		"less than it has to be":   {Judge("n", 0.9, AtLeast(0.95, "")), Figure{Name: "n", Measured: "0.90", Want: "at least 0.95", Verdict: Missed}},
		"more than it has to be":   {Judge("n", 2, AtLeast(0.95, "")), Figure{Name: "n", Measured: "2", Want: "at least 0.95", Verdict: Reached}},
		"nothing is demanded":      {Tell("heap", 12.345, "MiB"), Figure{Name: "heap", Measured: "12.3 MiB", Verdict: Told}},
		"it could not be measured": {Failed("heap", errors.New("no root\nat all")), Figure{Name: "heap", Measured: "no root", Verdict: NotMeasured}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("figure (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAValueThatIsNoNumberReachesNothing(t *testing.T) {
	if got := Judge("n", Median(nil), AtMost(5, "ms")).Verdict; got != Missed {
		t.Errorf("verdict %s on nothing", got)
	}
	if got := Judge("n", Median(nil), AtLeast(5, "ms")).Verdict; got != Missed {
		t.Errorf("verdict %s on nothing", got)
	}
}

func TestNumber(t *testing.T) {
	for value, want := range map[float64]string{0: "0", 3: "3", 1500: "1500", 0.123: "0.12", 9.876: "9.88", 45.67: "45.7", 123.4: "123", -45.67: "-45.7"} {
		if got := Number(value); got != want {
			t.Errorf("Number(%v) = %s, want %s", value, got, want)
		}
	}
}

var (
	here  = Machine{Date: "2026-01-02", Cores: 2, Kernel: "Linux 6", Go: "go1.26 amd64", Kubernetes: "v1.36.3", Command: "make bench"}
	there = Machine{Date: "2026-01-03", Cores: 8, Memory: "32 GiB", Kernel: "Linux 7", Go: "go1.26 arm64", Kubernetes: "v1.36.3", Command: "make bench", Load: "0.05"}
	speed = Row{Name: "speed", Machine: here, Figures: []Figure{Judge("time", 2, AtMost(1.5, "times"))}}
	size  = Row{Name: "size", Machine: here, Figures: []Figure{Tell("heap", 12, "MiB")}}
)

func TestMerge(t *testing.T) {
	again := speed
	again.Machine = there
	tests := map[string]struct {
		before, later, want Report
	}{
		"a first run":                         {nil, Report{speed}, Report{speed}},
		"a row is measured again":             {Report{speed, size}, Report{again}, Report{again, size}},
		"a row comes before one that is kept": {Report{size}, Report{speed}, Report{speed, size}},
		"a row is no more":                    {Report{speed, {Name: "gone"}}, Report{size}, Report{speed, size}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.before.Merge(tc.later, []string{"speed", "size"})); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

func TestText(t *testing.T) {
	var got strings.Builder
	if err := (Report{speed, size}).Text(&got); err != nil {
		t.Fatal(err)
	}
	want := "figure   measured   must reach           verdict\n" +
		"time     2 times    at most 1.50 times   missed\n" +
		"heap     12 MiB                          -\n"
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func TestMarkdown(t *testing.T) {
	elsewhere := size
	elsewhere.Machine = there
	figures := "| figure | measured | must reach | verdict |\n| --- | --- | --- | --- |\n" +
		"| time | 2 times | at most 1.50 times | missed |\n| heap | 12 MiB |  | - |\n\nMeasured on:\n\n"
	tests := map[string]struct {
		report Report
		want   string
	}{
		"of one run": {
			Report{speed, size},
			"- speed, size: 2026-01-02: 2 cores, Linux 6, go1.26 amd64, Kubernetes v1.36.3. Made by `make bench`.\n",
		},
		"of two runs": {
			Report{speed, elsewhere},
			"- speed: 2026-01-02: 2 cores, Linux 6, go1.26 amd64, Kubernetes v1.36.3. Made by `make bench`.\n" +
				"- size: 2026-01-03: 8 cores, 32 GiB, Linux 7, go1.26 arm64, Kubernetes v1.36.3, load 0.05 before. Made by `make bench`.\n",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(figures+tc.want, tc.report.Markdown()); diff != "" {
				t.Errorf("Markdown (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWritePage(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("# Speed\n"+begin+"old\n"+end+"More.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // Once more changes nothing.
		if err := (Report{speed}).WritePage(page); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		want := "# Speed\n" + begin + "\n" + Report{speed}.Markdown() + "\n" + end + "More.\n"
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("page (-want +got):\n%s", diff)
		}
	}
}

func TestAPageWithoutMarkersIsLeftAlone(t *testing.T) {
	for name, page := range map[string]string{"none": "x", "one": begin, "the wrong way round": end + begin} {
		if _, err := Between(page, "figures"); !errors.Is(err, ErrNoMarkers) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestThisMachine(t *testing.T) {
	machine := ThisMachine("v1.36.3", "make bench")
	if machine.Cores < 1 || machine.Kernel == "" || machine.Date == "" || !strings.HasPrefix(machine.Go, "go1.") {
		t.Errorf("machine %+v", machine)
	}
}
