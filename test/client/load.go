package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

// getsASet is how many keys a loading client reads for each key that it stores.
const getsASet = 9

// loading has the settings of a loading client, which makes requests as fast as memcached answers them.
type loading struct {
	dial        dialer
	duration    time.Duration
	connections int
	size        int
	scrape      string
}

func loadCommand(o *options) *cobra.Command {
	l := loading{dial: o.access.dial}
	cmd := &cobra.Command{
		Use:   "load",
		Short: "Measure the requests per second that each Pod answers over some connections",
		Args:  cobra.NoArgs,
		RunE:  o.run(func(ctx context.Context, r ring) (Result, error) { return l.load(ctx, r, o.keys) }),
	}
	cmd.Flags().DurationVar(&l.duration, "for", 10*time.Second, "how long")
	cmd.Flags().IntVar(&l.connections, "connections", 8, "number of connections to each Pod, "+
		"each with one request at a time")
	cmd.Flags().IntVar(&l.size, "size", 1024, "bytes of a value")
	cmd.Flags().StringVar(&l.scrape, "scrape", "", "URL of metrics to read once a second during the load; none by default")
	return cmd
}

// load first stores the keys on each Pod, so that each read finds a key.
func (l *loading) load(ctx context.Context, r ring, keys int) (Result, error) {
	result, value := Result{Nodes: r.nodes}, make([]byte, l.size)
	for _, node := range r.single {
		for i := range keys {
			if err := node.Set(&memcache.Item{Key: key(i), Value: value}); err != nil {
				return result, fmt.Errorf("set %s: %w", key(i), err)
			}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, l.duration)
	defer cancel()
	times := make([][]time.Duration, len(r.nodes)*l.connections)
	work, ctx := errgroup.WithContext(ctx)
	for i := range times {
		work.Go(func() (err error) {
			client := newClient(l.dial, prompt, r.nodes[i%len(r.nodes)])
			defer client.Close()
			times[i], err = repeat(ctx, client, keys, value)
			return err
		})
	}
	if l.scrape != "" {
		work.Go(func() error { return scrape(ctx, l.scrape) })
	}
	began := time.Now()
	if err := work.Wait(); err != nil {
		return result, err
	}
	result.summarize(slices.Concat(times...), time.Since(began))
	return result, nil
}

// repeat makes one request after another, and returns how long each took. A request that has begun when the time is
// over still counts.
func repeat(ctx context.Context, client *memcache.Client, keys int, value []byte) (times []time.Duration, err error) {
	for i := 0; ctx.Err() == nil; i++ {
		began := time.Now()
		if i%(getsASet+1) == 0 {
			err = client.Set(&memcache.Item{Key: key(i % keys), Value: value})
		} else {
			_, err = client.Get(key(i % keys))
		}
		if err != nil {
			return nil, err
		}
		times = append(times, time.Since(began))
	}
	return times, nil
}

// summarize computes the figures of the result from the requests that were answered.
func (r *Result) summarize(times []time.Duration, took time.Duration) {
	if len(times) == 0 {
		return
	}
	slices.Sort(times)
	at := func(percent int) float64 {
		return float64(times[min(len(times)*percent/100, len(times)-1)].Nanoseconds()) / 1000
	}
	r.Requests = len(times)
	r.PerSecond = float64(len(times)) / took.Seconds()
	r.P50, r.P99 = at(50), at(99)
}

func scrape(ctx context.Context, url string) error {
	for ticks := time.Tick(time.Second); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-ticks:
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil && ctx.Err() == nil {
			return err
		}
		_ = response.Body.Close()
	}
}
