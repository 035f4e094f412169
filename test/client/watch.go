package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/spf13/cobra"
)

const (
	// refresh is how often a watching client asks DNS for the Pods, as long-lived clients should.
	refresh = time.Second

	// pause is the time between two rounds of requests. It leaves the processors to the Pods that are watched.
	pause = 20 * time.Millisecond

	// mostFailures is how many errors are reported with their text.
	mostFailures = 5
)

func watchCommand(o *options) *cobra.Command {
	var duration time.Duration
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Set and get keys for a while, and count the requests that are not answered",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			result, err := o.watch(cmd.Context(), duration)
			if err != nil {
				return err
			}
			return json.NewEncoder(cmd.OutOrStdout()).Encode(result)
		},
	}
	cmd.Flags().DurationVar(&duration, "for", time.Minute, "how long")
	return cmd
}

func (o *options) watch(ctx context.Context, duration time.Duration) (Result, error) {
	var result Result
	for end := time.Now().Add(duration); time.Now().Before(end); {
		r, err := o.resolve(ctx, prompt)
		if err != nil {
			return result, err
		}
		result.Nodes = r.nodes
		for until := time.Now().Add(refresh); time.Now().Before(until); {
			r.ask(o.keys, &result)
			time.Sleep(pause)
		}
		r.close()
	}
	return result, nil
}

// ask sets and gets every key once.
func (r ring) ask(keys int, result *Result) {
	for i := range keys {
		result.note(r.hashed.Set(&memcache.Item{Key: key(i), Value: []byte(value(i))}))
		_, err := r.hashed.Get(key(i))
		result.note(err)
	}
}

func (r *Result) note(err error) {
	r.Requests++
	if err == nil || errors.Is(err, memcache.ErrCacheMiss) {
		return
	}
	r.Failed++
	if len(r.Failures) < mostFailures {
		r.Failures = append(r.Failures, fmt.Sprintf("%s %v", time.Now().Format(time.TimeOnly), err))
	}
}
