package traffic

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/operator/internal/uselog"
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
	var got []string
	seen, err := read(bufio.NewReader(strings.NewReader(log)), 100, func(u uselog.Use) { got = append(got, u.Key) })
	if !errors.Is(err, io.EOF) || seen.Lines != 8 || seen.Skipped != 7 {
		t.Errorf("got %+v, %v", seen, err)
	}
	if diff := cmp.Diff([]string{"a b%", "b", "b", "b", "b"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestALogIsReadUpToALimit(t *testing.T) {
	uses := 0
	seen, err := read(bufio.NewReader(strings.NewReader(log)), 3, func(uselog.Use) { uses++ })
	if err != nil || seen.Lines != 3 || uses != 2 {
		t.Errorf("got %+v, %v, %d uses", seen, err, uses)
	}
}
