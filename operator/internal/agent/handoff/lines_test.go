package handoff

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestALineOfTheLog(t *testing.T) {
	own := map[int]bool{7: true}
	tests := map[string]struct {
		text    string
		key     string
		changed bool
	}{
		"an item is stored":                         {"ts=1.5 gid=1 type=item_store key=a status=stored cmd=set ttl=0 clsid=1 cfd=30 size=1", "a", true},
		"the agent stores it":                       {"ts=1.5 gid=1 type=item_store key=a status=stored cmd=set ttl=0 clsid=1 cfd=7 size=1", "a", false},
		"an item is not stored, as it exists":       {"ts=1.5 gid=1 type=item_store key=a status=not_stored cmd=add ttl=0 clsid=1 cfd=30 size=1", "a", false},
		"an item is removed, as the new one is big": {"ts=1.5 gid=1 type=item_store key=a status=too_large cmd=set ttl=30 clsid=1 cfd=7 size=0", "a", true},
		"an item is deleted":                        {"ts=1.5 gid=1 type=deleted key=a cmd=delete clsid=1 size=1", "a", true},
		"an item is read":                           {"ts=1.5 gid=1 type=item_get key=a status=found clsid=1 cfd=30 size=1", "a", false},
		"an item is missing":                        {"ts=1.5 gid=1 type=item_get key=a status=not_found clsid=0 cfd=30 size=0", "a", true},
		"an item has expired":                       {"ts=1.5 gid=1 type=item_get key=a status=expired clsid=0 cfd=30 size=0", "a", true},
		"the agent misses it":                       {"ts=1.5 gid=1 type=item_get key=a status=not_found clsid=0 cfd=7 size=0", "a", false},
		"a key is escaped":                          {"ts=1.5 gid=1 type=deleted key=a%20%2Fb%ff%7e cmd=md clsid=1 size=1", "a /b\xff~", true},
		"an item is evicted":                        {"ts=1.5 gid=1 type=eviction key=a fetch=yes ttl=-1 la=0 clsid=1 size=1", "a", false},
		"another event":                             {"ts=1.5 gid=1 type=conn_new rip=127.0.0.1 rport=1 transport=tcp cfd=30", "", false},
		"nothing":                                   {"", "", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			l, err := parseLine([]byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.key, string(l.key)); diff != "" {
				t.Errorf("key (-want +got):\n%s", diff)
			}
			if got := l.changed(own); got != tc.changed {
				t.Errorf("changed %t, want %t", got, tc.changed)
			}
		})
	}
}

func TestALineThatMakesNoSense(t *testing.T) {
	for _, text := range []string{"type=item_store status=stored cfd=1", "type=item_get key=a cfd=x"} {
		if l, err := parseLine([]byte(text)); err == nil {
			t.Errorf("%q is %+v", text, l)
		}
	}
}

func TestAKeyInACommand(t *testing.T) {
	tests := map[string]struct{ raw, want string }{
		"plain":                  {"a/b", "ms a/b 0 T-1 MR q\r\n\r\n"},
		"with a blank":           {"a b", "ms YSBi 0 b T-1 MR q\r\n\r\n"},
		"with a line end":        {"a\n", "ms YQo= 0 b T-1 MR q\r\n\r\n"},
		"with other binary data": {"\xff\x01", "ms \xff\x01 0 T-1 MR q\r\n\r\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, keyOf([]byte(tc.raw)).removal()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheAnswerToAGet(t *testing.T) {
	tests := map[string]struct {
		text string
		want item
		ok   bool
	}{
		"an item":           {"VA 5 t-1 f7 O3", item{index: 3, size: 5, ttl: -1, flags: "7"}, true},
		"an item that ends": {"VA 0 t9 f0 O0", item{ttl: 9, flags: "0"}, true},
		"a stale item":      {"VA 5 t-1 f0 O3 W X", item{index: 3, size: 5, ttl: -1, flags: "0", stale: true}, true},
		"no index":          {"VA 5 t-1 f0", item{}, false},
		"no size":           {"VA x t-1 f0 O1", item{}, false},
		"a negative size":   {"VA -5 t-1 f0 O1", item{}, false},
		"another answer":    {"HD", item{}, false},
		"an error":          {"CLIENT_ERROR bad command line format", item{}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseItem(tc.text)
			if (err == nil) != tc.ok {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(item{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnItemLivesNoLongerBecauseItWaited(t *testing.T) {
	for _, tc := range []struct {
		ttl   int
		since time.Duration
		want  int
	}{{-1, time.Hour, -1}, {20, 900 * time.Millisecond, 20}, {20, 17 * time.Second, 3}, {20, time.Minute, 0}, {0, 0, 0}} {
		i := item{ttl: tc.ttl}
		if i.age(tc.since); i.ttl != tc.want {
			t.Errorf("%d s, of which %s are over: %d s", tc.ttl, tc.since, i.ttl)
		}
	}
}
