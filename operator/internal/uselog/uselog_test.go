package uselog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const log = "ts=1.2 gid=2 type=item_get key=a%20b%25 status=found clsid=1 cfd=24 size=5\n" +
	"skipped=7\n" +
	"ts=1.2 gid=3 type=item_get key=b status=not_found clsid=0 cfd=24 size=0\n" +
	"ts=1.2 gid=4 type=item_get key=b status=not_found clsid=0 cfd=24 size=0\n" +
	"ts=1.2 gid=4 type=item_store key=b status=stored cmd=set ttl=60 clsid=1 cfd=24 size=3\n" +
	"ts=1.2 gid=5 type=eviction key=c fetch=no ttl=-1 la=4 clsid=1 size=1\n" +
	"ts=1.2 gid=6 type=item_get key=b status=found clsid=1 cfd=25 size=3\n" +
	"ts=1.2 gid=7 type=item_store key=b status=stored cmd=set ttl=0 clsid=1 cfd=24 size=4\n" +
	"ts=1.2 gid=8 type=item_get key=b status=found clsid=1 cfd=24 size=4\n" +
	"ts=1.2 gid=8 type=deleted key=b cmd=delete clsid=1 size=4\n"

func TestTheUsesOfClientsAreRead(t *testing.T) {
	var got []Use
	skipped := 0
	clients := Filter{Pass: func(u Use) { got = append(got, u) }}
	for line := range strings.Lines(log) {
		count, _ := Skipped([]byte(line))
		skipped += count
		if begin, ok := Cut([]byte(line)); ok {
			clients.Add(begin.Use())
		}
	}
	clients.Flush()
	want := []Use{
		{Key: "a b%", Escaped: "a%20b%25", Read: true, Found: true, Size: 5, Class: 1, Connection: "24"},
		{Key: "b", Escaped: "b", Read: true, Connection: "24"},
		{Key: "b", Escaped: "b", Found: true, Size: 3, Class: 1, TTL: 60, Connection: "24"},
		{Key: "b", Escaped: "b", Read: true, Found: true, Size: 3, Class: 1, Connection: "25"},
		{Key: "b", Escaped: "b", Found: true, Size: 4, Class: 1, Connection: "24"},
		{Key: "b", Escaped: "b", Deleted: true, Size: 4, Class: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" || skipped != 7 {
		t.Errorf("%d lines skipped (-want +got):\n%s", skipped, diff)
	}
}

// FuzzAnyLineIsRead: whatever a memcached logs, a line is read the same with and without its end.
func FuzzAnyLineIsRead(f *testing.F) {
	for line := range strings.Lines(log) {
		f.Add(line)
	}
	f.Add("ts=1 gid=1 type=item_store key=%zz ttl=4294967233 size=-1 clsid=x")
	f.Fuzz(func(t *testing.T, line string) {
		line = strings.TrimRight(line, "\r\n")
		begin, ok := Cut([]byte(line))
		again, okAgain := Cut([]byte(line + "\r\n"))
		if ok != okAgain || ok && len(begin.Key) == 0 {
			t.Fatalf("%q and %q are read differently", line, line+"\r\n")
		}
		u := begin.Use()
		if diff := cmp.Diff(u, again.Use()); diff != "" {
			t.Error(diff)
		}
		if u.Size < 0 || u.Class < 0 || u.TTL < 0 || u.Read && u.Deleted {
			t.Errorf("%+v", u)
		}
	})
}
