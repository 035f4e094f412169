// Command thanos watches the servers of a cache with the provider that Thanos uses for auto discovery. Whenever the
// list of servers changes, it prints the list as a line of JSON.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/go-kit/log"
	"github.com/thanos-io/thanos/pkg/discovery/memcache"
)

// seen is a list of servers, and when the program read it first.
type seen struct {
	At      time.Time
	Servers []string
	Error   string `json:",omitempty"`
}

func main() {
	seconds := flag.Int("seconds", 60, "how long to watch")
	every := flag.Duration("every", 100*time.Millisecond, "how often to ask")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, time.Duration(*seconds)*time.Second)
	defer cancel()
	if err := watch(ctx, flag.Args(), *every); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func watch(ctx context.Context, endpoints []string, every time.Duration) error {
	// This is enough time even on a busy machine, so an error means that discovery does not work.
	provider := memcache.NewProvider(log.NewNopLogger(), nil, 2*time.Minute)
	var last seen
	for ticker := time.NewTicker(every); ctx.Err() == nil; {
		now := seen{}
		if err := provider.Resolve(ctx, endpoints, true); err != nil {
			now.Error = err.Error()
		}
		now.Servers = provider.Addresses()
		slices.Sort(now.Servers)
		if now.Error != last.Error || !slices.Equal(now.Servers, last.Servers) {
			last, now.At = now, time.Now()
			if err := json.NewEncoder(os.Stdout).Encode(now); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
	return nil
}
