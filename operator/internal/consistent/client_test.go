package consistent

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// TestOfFifteenHundredWritesInThreeNamespacesNoneIsReadTooEarly: the streams of the namespaces are late by different
// times, and the resource versions in one stream say nothing about another stream.
func TestOfFifteenHundredWritesInThreeNamespacesNoneIsReadTooEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slowest := map[string]int64{"quick": 1, "slow": 20, "slower": 300}
		s, c := newAPIServer(t, func(namespace string) time.Duration {
			return time.Duration(rand.Int64N(slowest[namespace] * int64(time.Millisecond)))
		})
		var writers sync.WaitGroup
		for namespace := range slowest {
			writers.Go(func() {
				for i := range int32(500) {
					mc := memcached(namespace, fmt.Sprint("cache-", i%5), i)
					c.write(t, mc)
					found, err := c.read(t, mc)
					if err != nil || found.ResourceVersion != mc.ResourceVersion {
						t.Errorf("%s: version %q is read, with error %v, after %q was written", namespace,
							found.ResourceVersion, err, mc.ResourceVersion)
					}
					if i%10 == 9 {
						c.remove(t, found)
						if _, err := c.read(t, mc); !apierrors.IsNotFound(err) {
							t.Errorf("%s: an object is read that was deleted, with error %v", namespace, err)
						}
					}
				}
			})
		}
		writers.Wait()
		if s.liveReads > 0 || !c.records.isEmpty() {
			t.Errorf("%d reads past the cache, and these records are left: %v", s.liveReads, c.records.of)
		}
	})
}
