package handoff

// Removes the keys that do not fit if a memcached gets less memory.

import (
	"context"
	"math"
)

// Trim removes the coldest items of a memcached, so that the others certainly fit if memcached has this much memory for
// items, in bytes. It returns how many it removed. Without this, memcached would evict all items in the pages that it
// releases, whether cold or not.
func Trim(ctx context.Context, dial Dial, memory int64) (removed int64, err error) {
	keys, err := list(ctx, dial, anyKey, func() {})
	if err != nil {
		return 0, err
	}
	defer keys.close()
	spans := keys.above(room{pages: float64(memory) / page, servers: 1, copiers: 1})
	err = removing(ctx, dial, func(remove func(key)) error {
		for _, of := range spans {
			if err := keys.each(of, func(k listed) error { remove(k.key); removed++; return nil }); err != nil {
				return err
			}
		}
		return nil
	})
	return removed, err
}

// above returns the spans of the keys that may not fit.
func (s *spool) above(r room) []*span {
	age, keys, isAll := s.fitting(r)
	if isAll {
		return nil
	}
	spans := []*span{{from: age, to: age, next: keys, end: s.ages.keys(age, age)}}
	if age < math.MaxUint8 {
		spans = append(spans, &span{from: age + 1, to: math.MaxUint8, end: math.MaxInt64})
	}
	return spans
}
