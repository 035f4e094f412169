//go:build e2e

package site

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// plot is a picture in a report, as the browser shows it.
type plot struct {
	Title        string
	Bars, Hidden int     // bars with a length; texts that extend beyond the picture
	Smallest     float64 // the height of the smallest letters, in pixels
}

// plots is JavaScript that returns the pictures of a page.
const plots = `[...document.querySelectorAll('figure')].map((figure) => {
	const svg = figure.querySelector('svg');
	const frame = svg.getBoundingClientRect();
	const texts = [...svg.querySelectorAll('text')];
	return {
		title: figure.querySelector('figcaption').textContent,
		bars: [...svg.querySelectorAll('rect')].filter((bar) => bar.getBoundingClientRect().width > 1).length,
		hidden: texts.filter((text) => {
			const box = text.getBoundingClientRect();
			return box.left < 0 || box.left < frame.left || box.right > frame.right || box.right > innerWidth;
		}).length,
		smallest: Math.min(...texts.map((text) => parseFloat(getComputedStyle(text).fontSize))) *
			frame.width / svg.viewBox.baseVal.width,
	};
})`

// TestAReportOfThePluginIsReadable opens the file that kubectl memcached report writes, in a window as wide as a phone,
// and in a wide one.
func TestAReportOfThePluginIsReadable(t *testing.T) {
	file, err := filepath.Abs(root + "/operator/internal/plugin/commands/testdata/report.html")
	if err != nil {
		t.Fatal(err)
	}
	page := (&url.URL{Scheme: "file", Path: file}).String() // a checkout's path may have blanks
	b := open(t)
	requests := b.requests(t)
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{phone, desk} {
			t.Run(fmt.Sprintf("%s, %d wide", scheme, width), func(t *testing.T) {
				b.do(t, prefer(scheme), chromedp.EmulateViewport(width, 6000), chromedp.Navigate(page),
					chromedp.Evaluate[chromedp.Void](contrast))
				for _, text := range append(b.complaints(t), result[[]string](t, b, "hardToRead(document.body)")...) {
					t.Error(text)
				}
				if got := result[int64](t, b, "document.documentElement.scrollWidth"); got > width {
					t.Errorf("the page is %d wide: a reader has to scroll sideways", got)
				}
				checkPlots(t, result[[]plot](t, b, plots))
				if text := result[string](t, b, "document.documentElement.outerHTML"); strings.Contains(text, "user:4711") {
					t.Error("the page has a key of a client")
				}
			})
		}
	}
	others := slices.DeleteFunc(requests(), func(address string) bool { return address == page })
	if len(others) > 0 {
		t.Errorf("the page loads %q", others)
	}
}

func checkPlots(t *testing.T, plots []plot) {
	t.Helper()
	const all, legible = 6, 9
	if len(plots) != all {
		t.Errorf("%d of %d plots", len(plots), all)
	}
	for _, plot := range plots {
		if plot.Bars == 0 || plot.Hidden > 0 || plot.Smallest < legible {
			t.Errorf("%+v has no bars, texts that are cut off, or letters that are too small", plot)
		}
	}
}
