package screen

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/estimate"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/hot"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/item"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/load"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/reach"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/slabs"
)

func server(number string) reach.Server {
	return reach.Server{Slot: "shop-" + number, Pod: "shop-5d9c7b6f4-" + number + "aaaa"}
}

// prints compares what is printed with a golden file.
func prints(t *testing.T, golden string, show func(Screen) error) {
	t.Helper()
	var out bytes.Buffer
	if err := show(Screen{Writer: &out}); err != nil {
		t.Fatal(err)
	}
	page.Golden(t, "testdata/"+golden, out.String(), *update)
}

func TestTheItemsOfAKeyMatchTheirGoldenFile(t *testing.T) {
	prints(t, "items.txt", func(s Screen) error {
		return s.Items([]Item{
			{Server: server("0"), Item: item.Item{
				Found: true, Size: 5, Flags: 3, LastAccess: item.Duration{Duration: 12 * time.Second},
				TTL: &item.Duration{Duration: 10 * time.Minute}, Value: []byte("a\x1b[31m"),
			}},
			{Server: server("1"), Item: item.Item{Found: true, Size: 1 << 20, Read: true}},
			{Server: server("2")},
			{Server: server("3"), Error: "connection refused"},
		})
	})
}

// loads are the loads of a busy server, an idle server, and a server that does not answer.
func loads() []Load {
	busy := load.Load{
		Used: 63 << 20, Limit: 64 << 20, Items: 612345, Connections: 212, HitRatio: new(0.9134), TotalHitRatio: new(0.955),
		Requests: new(12034.4), Evictions: new(312.), EvictedAge: new(int64(5400)),
	}
	return []Load{
		{Server: server("0"), Load: busy},
		{Server: server("1"), Load: load.Load{Limit: 64 << 20, Connections: 2}},
		{Server: server("2"), Error: "connection refused"},
	}
}

func classes() []Slabs {
	return []Slabs{
		{Server: server("0"), Classes: []slabs.Class{
			{Number: 1, ChunkSize: 96, Pages: 1, Chunks: 10922, Used: 100, Items: 100, Requested: 7300, Age: 3600},
			{
				Number: 10, ChunkSize: 752, Pages: 62, Chunks: 86428, Used: 86428, Items: 86420, Requested: 62 << 20, Age: 90,
				Evicted: 12345, EvictedAge: 95,
			},
		}},
		{Server: server("1"), Error: "connection refused"},
	}
}

func TestTheSlabClassesMatchTheirGoldenFile(t *testing.T) {
	prints(t, "slabs.txt", func(s Screen) error { return s.Slabs(classes()) })
}

func TestTheSizesMatchTheirGoldenFile(t *testing.T) {
	prints(t, "sizes.txt", func(s Screen) error {
		return s.Sizes(slabs.Sizes([][]slabs.Class{classes()[0].Classes, {{ChunkSize: 120, Items: 30000, Requested: 3300000}}}), nil)
	})
}

func TestAKeyControlsNoTerminalAndNoColumns(t *testing.T) {
	for key, want := range map[string]string{
		"user:7": "user:7", `say "ü"`: `say "ü"`, "a\tb": `a\tb`, "\xff\x9b": `\xff\x9b`, "\u009b31m": `\u009b31m`, "\u202e": `\u202e`, "\a": `\a`,
	} {
		if got := printable(key); got != want {
			t.Errorf("%q is printed as %s, want %s", key, got, want)
		}
	}
}

func TestTheHotKeysMatchTheirGoldenFile(t *testing.T) {
	prints(t, "hot-keys.txt", func(s Screen) error {
		return s.HotKeys([]hot.Key{
			{Server: server("2"), Key: "config:flags", Rate: 4120.4, Share: 0.37, HitRatio: 1, Size: 412},
			{Server: server("0"), Key: "user:\x1b[31m7", Rate: 12.6, Share: 0.01, HitRatio: 0.5},
		})
	})
}

func TestWhatAFlushRemovesMatchesItsGoldenFile(t *testing.T) {
	prints(t, "flush.txt", func(s Screen) error {
		return s.Flush([]Load{
			{Server: server("0"), Load: load.Load{Items: 612345, Used: 63 << 20}}, {Server: server("1"), Load: load.Load{Items: 1, Used: 70}},
		}, true)
	})
}

func TestTheQuestionOfAFlushFollowsWhatItRemoves(t *testing.T) {
	var out bytes.Buffer
	held := []Load{{Server: server("0"), Load: load.Load{Items: 2, Used: 70}}, {Server: server("1"), Error: "connection refused"}}
	if err := (Screen{Writer: &out}).Flush(held, false); err != nil || !strings.HasSuffix(out.String(), "refused\n\n2 keys with 70 in total\n") {
		t.Errorf("%v\n%s", err, &out)
	}
}

func TestAnEstimateMatchesItsGoldenFile(t *testing.T) {
	half := estimate.Prediction{Memory: 0.5, HitRatio: 0.81}
	prints(t, "estimate.txt", func(s Screen) error {
		return s.Estimates([]Estimate{
			{Server: server("0"), Estimate: Prediction{
				Predictions: []estimate.Prediction{half, {Memory: 1, HitRatio: 0.8732}, {Memory: 2, HitRatio: 0.9284}},
				Reads:       361033, Requested: 361102, Full: true,
			}},
			{Server: server("1"), Estimate: Prediction{
				Predictions: []estimate.Prediction{half, {Memory: 1, HitRatio: 0.87}, {Memory: 2, HitRatio: 0.92, Extrapolated: true}},
				Reads:       120000, Requested: 360000, Full: true,
			}},
			{Server: server("2"), Error: "connection refused"},
		}, []float64{0.5, 1, 2})
	})
}

func TestAPodThatTerminatesWithoutASlotIsNotCounted(t *testing.T) {
	holder, former, other := server("0"), reach.Server{Pod: "former", Terminating: true}, server("1")
	holder.Terminating = true // The Pod keeps its slot until another Pod has its keys.
	var out bytes.Buffer
	var loads []Load
	for _, s := range []reach.Server{holder, other, former} {
		loads = append(loads, Load{Server: s, Load: load.Load{Limit: 64 << 20}})
	}
	if err := (Screen{Writer: &out}).Loads(loads); err != nil || !regexp.MustCompile(`all +128Mi`).MatchString(out.String()) {
		t.Errorf("%v\n%s", err, &out)
	}
}

func TestATerminalWithoutColorsIsClearedToo(t *testing.T) {
	for screen, want := range map[Screen]string{{Terminal: true}: clearTerminal, {}: "\n"} {
		var out bytes.Buffer
		screen.Writer = &out
		if screen.Clear(); out.String() != want {
			t.Errorf("%+v prints %q, want %q", screen, &out, want)
		}
	}
}
