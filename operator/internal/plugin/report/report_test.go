package report

import (
	"bytes"
	"flag"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/cachetest"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/overview"
)

var update = flag.Bool("update", false, "write the golden file again")

func written(t *testing.T, r Report) string {
	t.Helper()
	var out bytes.Buffer
	if err := r.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestThePageMatchesItsGoldenFile(t *testing.T) {
	mc := cachetest.Memcached("shop", cachev1.ReasonPodsNotReady, `2 of 3 Pods ready; 1 Pod: "x" <exited>`)
	memory := Plot{Title: "Memory used, of the limit"}
	memory.Add("shop-0", "98.4% of 64Mi", 0.984)
	memory.Add("a-cache-with-a-name-that-is-much-too-long-for-a-plot-5d9c7b6f4-2aaaa", "no answer", 0)
	memory.Scale(1)
	page.Golden(t, "testdata/page.html", written(t, Report{
		Namespace: "team", Name: "shop", Summary: overview.SummaryOf(mc), Taken: cachetest.Now, Version: "0.2.0",
		Unread: []string{"You have no right to read: Nodes"}, Plots: []Plot{memory},
		Sections: []Section{{"Causes", "Memcached team/shop\n\n  <script>\n"}},
	}), *update)
}

func TestThePageLoadsAndRunsNothing(t *testing.T) {
	evil := `"><script>alert(1)</script><img src=//example.com onerror=x>`
	plot := Plot{Title: evil}
	plot.Add(evil, evil, 1)
	text := written(t, Report{
		Namespace: evil, Name: evil, Summary: overview.Summary{State: overview.State(evil), Reason: evil, Message: evil},
		Version: evil, Unread: []string{evil}, Plots: []Plot{plot}, Sections: []Section{{evil, evil}},
	})
	if found := regexp.MustCompile(`(?i)<script|<img|<link|<iframe|@import|url\(`).FindString(text); found != "" {
		t.Errorf("the page has %s", found)
	}
}

func TestTheLongestBarIsThatOfTheHighestValueOrOfMost(t *testing.T) {
	for most, want := range map[float64][]float64{0: {0, barWidth / 2, barWidth}, 8: {0, barWidth / 4, barWidth / 2}} {
		plot := Plot{}
		for _, value := range []float64{0, 2, 4} {
			plot.Add("", "", value)
		}
		plot.Scale(most)
		var got []float64
		for _, bar := range plot.Bars {
			got = append(got, bar.Length)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("most %g: %s", most, diff)
		}
	}
	nothing := Plot{Bars: []Bar{{Label: "a"}}}
	if nothing.Scale(0); nothing.Bars[0].Length != 0 || strings.Contains(written(t, Report{Plots: []Plot{nothing}}), "NaN") {
		t.Errorf("got %+v", nothing)
	}
}
