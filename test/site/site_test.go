//go:build e2e

package site

import (
	_ "embed"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/onsi/gomega"
)

var (
	//go:embed contrast.js
	contrast string
	//go:embed look.js
	look string
)

// forge is the address to which links to other files of the repository lead.
const forge = "https://github.com/example-inc/memcached-operator/"

// seen is the result of look.js for a page.
type seen struct {
	Hard, Links, Content, Anchors []string
	Mustaches, Width              int
}

// TestTheSite is one test, because all of its parts read the same site in the same browser.
func TestTheSite(t *testing.T) {
	b, site := open(t), build(t)
	pages := map[string]seen{}
	for _, address := range site.pages(t) {
		pages[address] = seen{}
		t.Run("every page is readable: "+strings.TrimPrefix(address, site.address), func(t *testing.T) {
			pages[address] = read(t, b, site, address)
		})
	}
	t.Run("the menus are readable", func(t *testing.T) {
		visit(t, b, site.address+"main/docs/slots.html", desk, "body")
	})
	t.Run("every link leads somewhere", func(t *testing.T) { checkLinks(t, site, pages) })
	t.Run("three hops lead anywhere that matters", func(t *testing.T) { checkHops(t, site.address+"main/", pages) })
	t.Run("search finds what readers look for", func(t *testing.T) { checkSearch(t, b, site) })
	t.Run("the menu leads to a release and back", func(t *testing.T) { checkVersions(t, b, site) })
	t.Run("the first address leads to the newest release", func(t *testing.T) {
		b.do(t, chromedp.Navigate(site.address))
		b.awaitAddress(t, site.address+tag+"/")
	})
}

// These are the widths of a small phone, and of a window on a desk.
const phone, desk = 390, 1280

func read(t *testing.T, b browser, site built, address string) seen {
	t.Helper()
	page := visit(t, b, address, phone, ".VPContent")
	if page.Width > phone {
		t.Errorf("the page is %d wide: a reader on a phone has to scroll sideways", page.Width)
	}
	if n := strings.Count(site.source(t, address), "{{"); n != page.Mustaches {
		t.Errorf("%d of %d {{ are shown: VitePress took the others for its own", page.Mustaches, n)
	}
	return page
}

// visit opens a page in a window of this width, and reports texts inside the selected element that are hard to read.
func visit(t *testing.T, b browser, address string, width int64, selector string) seen {
	t.Helper()
	b.do(t, chromedp.EmulateViewport(width, 844), chromedp.Navigate(address), chromedp.WaitReady(".VPContent"),
		chromedp.Evaluate[chromedp.Void](contrast+look))
	page := result[seen](t, b, fmt.Sprintf("look(%q)", selector))
	for _, text := range append(b.complaints(t), page.Hard...) {
		t.Error(text)
	}
	return page
}

func checkLinks(t *testing.T, site built, pages map[string]seen) {
	t.Helper()
	for address, page := range pages {
		for _, link := range page.Links {
			if problem := follow(site, link, pages); problem != "" {
				t.Errorf("%s: %s: %s", strings.TrimPrefix(address, site.address), link, problem)
			}
		}
	}
}

// follow returns what is wrong with a link. It ignores links to other sites than this one and the repository's.
func follow(site built, link string, pages map[string]seen) string {
	for _, kind := range []string{"blob/main/", "tree/main/"} {
		if file, found := strings.CutPrefix(link, forge+kind); found {
			file, _, _ = strings.Cut(file, "#")
			if _, err := os.Stat(filepath.Join(root, file)); err != nil {
				return "the repository has no such file"
			}
		}
	}
	address, fragment, _ := strings.Cut(link, "#")
	below, found := strings.CutPrefix(address, site.address)
	if !found {
		return ""
	}
	page, known := pages[address]
	if !known {
		if _, err := os.Stat(filepath.Join(site.out, below, "index.html")); err != nil {
			return "there is no such page"
		}
		return ""
	}
	anchor, err := url.PathUnescape(fragment)
	if err != nil || anchor != "" && !slices.Contains(page.Anchors, anchor) {
		return "there is no such heading"
	}
	return ""
}

// checkHops checks that a reader needs at most three links in the text to get from the front page to certain pages. It
// ignores the links in menus.
func checkHops(t *testing.T, front string, pages map[string]seen) {
	t.Helper()
	hops, next := map[string]int{front: 0}, []string{front}
	for len(next) > 0 {
		from := next[0]
		next = next[1:]
		address, _, _ := strings.Cut(from, "#")
		for _, link := range pages[address].Content {
			if _, known := hops[link]; !known {
				hops[link] = hops[from] + 1
				next = append(next, link)
			}
		}
	}
	for question, answer := range map[string]string{
		"how to keep keys in a rollout": "docs/slots.html",
		"what an alert means":           "docs/runbooks/MemcachedEvictsYoungItems.html",
		"how to add a field":            "CONTRIBUTING.html#a-new-field",
	} {
		if n, found := hops[front+answer]; !found || n > 3 {
			t.Errorf("%s: a reader needs %d links (0: there are none) from the front page to %s, want at most 3", question, n, answer)
		}
	}
}

// phrases are texts that readers search for, and the pages that the search must find.
var phrases = map[string]string{
	"keep the keys":             "docs/slots",
	"MemcachedEvictsYoungItems": "docs/runbooks/MemcachedEvictsYoungItems",
	"a new field":               "CONTRIBUTING",
	"without a fork":            "docs/consumer",
	"why a Pod was replaced":    "docs/memcached/troubleshooting",
	"pymemcache":                "docs/clients",
	"External Secrets":          "docs/secrets",
	"Bitnami chart":             "docs/migrating",
	"riscv64":                   "docs/architectures",
	"terminationDelaySeconds":   "docs/slots",
}

func checkSearch(t *testing.T, b browser, site built) {
	t.Helper()
	for phrase, want := range phrases {
		t.Run(phrase, func(t *testing.T) {
			b.do(t, chromedp.Navigate(site.address+"main/"), chromedp.Click(".DocSearch-Button"),
				chromedp.SendKeys("#localsearch-input", phrase))
			first := func() []string {
				return result[[]string](t, b, `[...document.querySelectorAll('a.result')].slice(0, 5).map((a) => a.pathname)`)
			}
			gomega.NewWithT(t).Eventually(first).Should(gomega.ContainElement(base + "main/" + want + ".html"))
		})
	}
}

func checkVersions(t *testing.T, b browser, site built) {
	t.Helper()
	for _, way := range [][2]string{{"main", tag}, {tag, "main"}} {
		from, to := site.address+way[0]+"/", site.address+way[1]+"/"
		choose := fmt.Sprintf(`[...document.querySelectorAll('.VPNavBarMenu a')].find((a) => a.href === %q).click()`, to)
		b.do(t, chromedp.EmulateViewport(desk, 800), chromedp.Navigate(from+"docs/slots.html"),
			chromedp.WaitReady(".VPNavBarMenu a"), chromedp.Evaluate[chromedp.Void](choose))
		b.awaitAddress(t, to)
	}
	for _, text := range b.complaints(t) {
		t.Error(text)
	}
}

func (b browser) awaitAddress(t *testing.T, want string) {
	t.Helper()
	address := func() (string, error) { return chromedp.Run(b, chromedp.Location()) }
	gomega.NewWithT(t).Eventually(address).Should(gomega.Equal(want))
}

func TestThePicturesAreReadable(t *testing.T) {
	b := open(t)
	pictures, err := filepath.Glob(root + "/docs/images/*.svg")
	if err != nil || len(pictures) == 0 {
		t.Fatalf("no pictures: %v", err)
	}
	// These are the backgrounds of pictures on the pages of the site.
	backgrounds := map[string]string{"light": "#ffffff", "dark": "#1b1b1f"}
	for _, file := range pictures {
		svg, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for scheme, background := range backgrounds {
			// An animated picture must be readable without its animation, and at the beginning of the animation.
			for _, style := range []string{"animation: none !important", "animation-play-state: paused !important"} {
				t.Run(filepath.Base(file)+" in "+scheme+" with "+style, func(t *testing.T) {
					page := fmt.Sprintf("<style>body { background: %s } svg, svg * { %s }</style>%s", background, style, svg)
					b.do(t, prefer(scheme), chromedp.EmulateViewport(1200, 2400),
						chromedp.Navigate("data:text/html;charset=utf-8,"+url.PathEscape(page)),
						chromedp.Evaluate[chromedp.Void](contrast))
					for _, text := range result[[]string](t, b, "hardToRead(document.body)") {
						t.Error(text)
					}
				})
			}
		}
	}
}
