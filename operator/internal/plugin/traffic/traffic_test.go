package traffic

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const log = "ts=1.2 gid=2 type=item_get key=a%20b%25 status=found clsid=1 cfd=24 size=5\n" +
	"skipped=7\n" +
	"ts=1.2 gid=3 type=item_get key=b status=not_found clsid=0 cfd=24 size=0\n" +
	"ts=1.2 gid=4 type=item_get key=b status=not_found clsid=0 cfd=24 size=0\n" +
	"ts=1.2 gid=4 type=item_store key=b status=stored cmd=set ttl=0 clsid=1 cfd=24 size=3\n" +
	"ts=1.2 gid=5 type=eviction key=c fetch=no ttl=-1 la=4 clsid=1 size=1\n" +
	"ts=1.2 gid=6 type=item_get key=b status=found clsid=1 cfd=25 size=3\n" +
	"ts=1.2 gid=7 type=item_store key=b status=stored cmd=set ttl=0 clsid=1 cfd=24 size=4\n"

func TestALogIsRead(t *testing.T) {
	var got []Use
	seen, err := read(bufio.NewReader(strings.NewReader(log)), 100, func(u Use) { got = append(got, u) })
	if !errors.Is(err, io.EOF) || seen.Lines != 8 || seen.Skipped != 7 {
		t.Errorf("got %+v, %v", seen, err)
	}
	want := []Use{
		{"a b%", true, true, 5, "24"}, {"b", true, false, 0, "24"}, {"b", false, true, 3, "24"}, {"b", true, true, 3, "25"},
		{"b", false, true, 4, "24"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Use{})); diff != "" {
		t.Error(diff)
	}
}

func TestALogIsReadUpToALimit(t *testing.T) {
	uses := 0
	seen, err := read(bufio.NewReader(strings.NewReader(log)), 3, func(Use) { uses++ })
	if err != nil || seen.Lines != 3 || uses != 2 {
		t.Errorf("got %+v, %v, %d uses", seen, err, uses)
	}
}
