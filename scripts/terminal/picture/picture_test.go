package picture

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestAPictureHasTheLinesOfATerminalAndItsColors(t *testing.T) {
	drawn := Draw("a <b>", Lines("$ status\n\nshop: \x1b[31mStalled\x1b[0m (x < y), \x1b[33mpaused\x1b[0m\n\n"))
	for _, want := range []string{
		`viewBox="0 0 243 95"`, `<title id="title">a &lt;b&gt;</title>`, `prefers-color-scheme: dark`,
		`<text x="16" y="45"><tspan class="s1">$ status</tspan></text>`,
		`<text x="16" y="79">shop: <tspan class="s31">Stalled</tspan> (x &lt; y), <tspan class="s33">paused</tspan></text>`,
	} {
		if !strings.Contains(drawn, want) {
			t.Errorf("has no %s:\n%s", want, drawn)
		}
	}
	if strings.Contains(drawn, "animation") {
		t.Error("lines that are printed in the same moment are animated")
	}
	for decoder := xml.NewDecoder(strings.NewReader(drawn)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestLinesAppearWhenTheyWerePrinted(t *testing.T) {
	drawn := Draw("", []Line{{Text: "$ make demo"}, {Text: "done", After: 1.25}})
	for _, want := range []string{`style="animation-delay: 1.2s">done</text>`, "prefers-reduced-motion"} {
		if !strings.Contains(drawn, want) {
			t.Errorf("has no %s:\n%s", want, drawn)
		}
	}
}
