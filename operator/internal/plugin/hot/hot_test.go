package hot

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/reach"
	"github.com/example-inc/memcached-operator/operator/internal/uselog"
)

func TestTheKeysThatAreReadMostComeFirst(t *testing.T) {
	var c Counter
	for _, use := range []uselog.Use{
		{Key: "a", Read: true, Found: true, Size: 5}, {Key: "b\xff", Read: true}, {Key: "b\xff"}, {Key: "b\xff"},
		{Key: "a", Read: true}, {Key: "c", Read: true, Found: true, Size: 1},
	} {
		c.Count(use)
	}
	server := reach.Server{Pod: "pod"}
	want := []Key{
		{Server: server, Key: "a", Reads: 2, Rate: 1, Share: 0.5, HitRatio: 0.5, Size: 5},
		{Server: server, Key: "b\xff", Base64: "Yv8=", Reads: 1, Rate: 0.5, Share: 0.25},
	}
	got := c.Keys(server, 2*time.Second, 2)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(reach.Server{})); diff != "" {
		t.Error(diff)
	}
	if got := new(Counter).Keys(server, time.Second, 2); len(got) != 0 {
		t.Errorf("got %+v of no reads", got)
	}
}
