//go:build e2e

package commands

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
)

// reads are the reads of a client that stores missing keys. The popularity of a key is a power of its rank.
type reads struct {
	client     *protocol.Client
	value      string
	hits, gets atomic.Int64
}

func (r *reads) read(t *testing.T, key string) error {
	answer, err := r.client.Ask(t.Context(), "mg "+key+" s\r\n")
	if err != nil {
		return err
	}
	r.gets.Add(1)
	if strings.HasPrefix(answer, "HD") {
		r.hits.Add(1)
		return nil
	}
	_, err = r.client.Ask(t.Context(), fmt.Sprintf("ms %s %d\r\n%s\r\n", key, len(r.value), r.value))
	return err
}

// zipf returns keys as Zipf's law says.
func zipf(keys int, alpha float64) func() string {
	sums, sum := make([]float64, keys), 0.
	for i := range sums {
		sum += math.Pow(float64(i+1), -alpha)
		sums[i] = sum
	}
	random := rand.New(rand.NewPCG(1, 2))
	return func() string { return fmt.Sprint("key-", sort.SearchFloat64s(sums, random.Float64()*sum)) }
}

// TestAnEstimateIsWithinThreePointsOfAServerWithThatMemory compares with a second server, which has twice the memory
// and gets the same requests.
func TestAnEstimateIsWithinThreePointsOfAServerWithThatMemory(t *testing.T) {
	c := secured(t, 1, "--memory-limit=16")
	twice, err := protocol.Dial(t.Context(), memcachedtest.Start(t, "--memory-limit=32").Address, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer twice.Close()
	value, next := strings.Repeat("x", 4000), zipf(30000, 0.9)
	servers := []*reads{{client: c.client(0), value: value}, {client: twice, value: value}}
	request := func() error {
		key := next()
		for _, server := range servers {
			if err := server.read(t, key); err != nil {
				return err
			}
		}
		return nil
	}
	for range 40000 { // The caches fill.
		if err := request(); err != nil {
			t.Fatal(err)
		}
	}
	stop, ended := make(chan struct{}), make(chan error, 1)
	for _, server := range servers {
		server.gets.Store(0)
		server.hits.Store(0)
	}
	go func() {
		for {
			select {
			case <-stop:
				ended <- nil
				return
			default:
			}
			if err := request(); err != nil {
				ended <- err
				return
			}
		}
	}()
	out := c.prints(nil, "estimate", "shop", "--for=2m", "--lines=110000", "-o", "json")
	close(stop)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	var list struct {
		Items []struct {
			Estimate struct {
				Reads       int
				Full        bool
				Predictions []struct {
					Memory, HitRatio float64
					Extrapolated     bool
				}
			}
		}
	}
	_, text, _ := strings.Cut(out, "wait.\n")
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	got := list.Items[0].Estimate
	for i, server := range servers {
		measured := float64(server.hits.Load()) / float64(server.gets.Load())
		t.Logf("%gx: predicted %.3f, measured %.3f of %d", got.Predictions[i+1].Memory, got.Predictions[i+1].HitRatio, measured,
			server.gets.Load())
		if math.Abs(got.Predictions[i+1].HitRatio-measured) > 0.03 {
			t.Errorf("%gx: predicted %.3f, measured %.3f", got.Predictions[i+1].Memory, got.Predictions[i+1].HitRatio, measured)
		}
	}
	if !got.Full || got.Predictions[2].Extrapolated {
		t.Errorf("got %+v", got)
	}
}
