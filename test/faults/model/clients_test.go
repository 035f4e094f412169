package model

import (
	"slices"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/consistency"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

func TestAnOverwrittenValueIsFoundWhereItIsRead(t *testing.T) {
	h := &history.History{Entries: []history.Entry{{Step: history.PhaseStarted}}}
	for i, value := range []string{"1", "2", "1", "2"} {
		began := time.Unix(int64(i), 0)
		h.Entries = append(h.Entries, history.Entry{Access: &consistency.Access{
			Key: "key of 10.0.0.1:11211", Writes: i < 2, Value: value, Began: began, Ended: began,
		}})
	}
	want := []Violation{{"no overwritten key", 3, `get key of 10.0.0.1:11211 = "1", but "2" was stored 1s before`}}
	if got := Check(h, clientRules()); !slices.Equal(got, want) {
		t.Errorf("violations %+v, want %+v", got, want)
	}
}
