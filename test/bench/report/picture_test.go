package report

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

func TestAPictureHasACurvePerSeries(t *testing.T) {
	got := Picture("Hits", Axis{[]Mark{{1, "rollout begins"}}, "1 s later"},
		Panel{Title: "hits, %", Most: 100, Curves: []Curve{
			{"Auto", []float64{100, 100, 100}}, {"Never", []float64{100, math.NaN(), 0}},
		}},
		Panel{Title: "p99, ms", Most: 2, Curves: []Curve{{"Auto", []float64{1, 2, 4}}}})
	for _, want := range []string{
		`<polyline class="c0" points="0.0,0.0 380.0,0.0 760.0,0.0"/>`,
		`<polyline class="c1" points="0.0,0.0 760.0,130.0"/>`,          // without the second that is not known
		`<polyline class="c0" points="0.0,65.0 380.0,0.0 760.0,0.0"/>`, // no higher than the plot
		`prefers-color-scheme: dark`, `>1 s later<`, `>rollout begins<`, ` M380.0 0V130"/>`, `<title id="title">Hits</title>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("has no %s:\n%s", want, got)
		}
	}
	for decoder := xml.NewDecoder(strings.NewReader(got)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
