package load

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var start = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// sample returns a sample that was taken after this many seconds, of a server with this many gets and hits. The server
// evicts an item each second.
func sample(after, gets, hits int) Sample {
	return Sample{
		At: start.Add(time.Duration(after) * time.Second),
		General: map[string]string{
			"bytes": "48", "limit_maxbytes": "64", "curr_items": "2", "curr_connections": "3", "uptime": fmt.Sprint(100 + after),
			"cmd_get": fmt.Sprint(gets), "get_hits": fmt.Sprint(hits), "cmd_set": fmt.Sprint(10 * after), "evictions": fmt.Sprint(after),
		},
		Classes: map[string]map[string]string{
			"1": {"evicted": fmt.Sprint(after), "evicted_time": "50"},
			"2": {"evicted": "7", "evicted_time": "5"}, // long ago
			"3": {"evicted": "0", "evicted_time": "0"},
		},
	}
}

func TestALoadIsComputedFromTwoSamples(t *testing.T) {
	restarted := sample(2, 10, 5)
	restarted.General["uptime"] = "1"
	for name, tc := range map[string]struct {
		before *Sample
		now    Sample
		want   Load
	}{
		"without a sample before": {nil, sample(2, 100, 50), Load{TotalHitRatio: new(0.5), EvictedAge: new(int64(5))}},
		"two seconds later": {new(sample(2, 100, 50)), sample(4, 200, 140), Load{
			HitRatio: new(0.9), TotalHitRatio: new(0.7), Requests: new(60.), Evictions: new(1.), EvictedAge: new(int64(50)),
		}},
		"without gets": {new(sample(2, 0, 0)), sample(4, 0, 0), Load{
			Requests: new(10.), Evictions: new(1.), EvictedAge: new(int64(50)),
		}},
		"after a restart": {new(sample(4, 200, 140)), restarted, Load{TotalHitRatio: new(0.5), EvictedAge: new(int64(5))}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.want.Used, tc.want.Limit, tc.want.Items, tc.want.Connections = 48, 64, 2, 3
			if diff := cmp.Diff(tc.want, Of(tc.before, tc.now), cmpopts.IgnoreUnexported(Load{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestATotalWeighsServersByTheirRequests(t *testing.T) {
	a := Of(new(sample(0, 0, 0)), sample(1, 100, 100))
	b := Of(new(sample(0, 0, 0)), sample(1, 300, 0))
	c := Of(nil, Sample{})
	want := Load{
		Used: 96, Limit: 128, Items: 4, Connections: 6, HitRatio: new(0.25), TotalHitRatio: new(0.25),
		Requests: new(420.), Evictions: new(2.), EvictedAge: new(int64(50)),
	}
	if diff := cmp.Diff(want, Total([]Load{c, a, b}), cmpopts.IgnoreUnexported(Load{})); diff != "" {
		t.Error(diff)
	}
}
