package usual

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

// FuzzDecide begins with any record of a cache, whose Pods then report anything for some hours. The learned values stay
// within those that can be reported, and a second decision at the same time changes nothing.
func FuzzDecide(f *testing.F) {
	f.Add([]byte("some reports of a cache, and what was learned of it before"), int64(0))
	f.Add([]byte{}, int64(1<<40))
	f.Fuzz(func(t *testing.T, content []byte, since int64) {
		next := func() int64 {
			var chunk [8]byte
			content = content[copy(chunk[:], content):]
			return int64(binary.LittleEndian.Uint64(chunk[:]) >> 2)
		}
		day := New(noon.Add(-time.Duration(since)))
		for signal := range day.Hours {
			hour := &day.Hours[signal][next()%24]
			hour.Value, hour.Spread = min(float64(next()%2000), Most[signal]), float64(next()%MostSpread)
			hour.Days = next()
		}
		var moments []Moment
		in := Input{QuietDays: 1, Age: time.Hour}
		for minute := range 130 {
			in.Now = noon.Add(time.Duration(minute) * time.Minute)
			moments = append(moments, MomentOf(in.Now, usage.Report{
				RecentReads: next(), RecentHitRatio: float64(next()%101) / 100, Evicting: next()%2 == 0, EvictedAge: next(),
				Connections: next(), Latency: next(),
			}))
			if minute%10 == 0 {
				in.Day, in.Moments = day, moments
				day = Decide(in)
			}
		}
		in.Day, in.Moments = day, moments
		day = Decide(in)
		in.Day = day
		if diff := cmp.Diff(day, Decide(in)); diff != "" {
			t.Fatalf("a second look (-first +second):\n%s", diff)
		}
		for signal, hours := range day.Hours {
			for _, hour := range hours {
				if !(hour.Value >= Unknown && hour.Value <= Most[signal] && hour.Spread >= 0 && hour.Spread <= MostSpread) {
					t.Errorf("%s: learned %v", Names[signal], hour)
				}
			}
		}
	})
}
