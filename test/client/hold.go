package main

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/spf13/cobra"
)

const (
	// heldKey is the key that a holding client reads. Its value instructs the client to continue or to end.
	heldKey  = "held"
	resume   = "continue"
	released = "released"
)

// holding has the settings of a client that reads a key again and again over the same connections, here called a
// holding client.
type holding struct {
	of              *options
	connections     int // to each Pod
	every, duration time.Duration
}

func holdCommand(o *options) *cobra.Command {
	h := holding{of: o}
	cmd := &cobra.Command{
		Use: "hold",
		Short: "Read a key over the same connections, until the command release runs or for a while, and count the " +
			"reads that fail",
		Args: cobra.NoArgs,
		RunE: o.run(h.hold),
	}
	cmd.Flags().DurationVar(&h.duration, "for", time.Minute, "how long at most")
	cmd.Flags().DurationVar(&h.every, "every", 200*time.Millisecond, "how long between two rounds of reads")
	cmd.Flags().IntVar(&h.connections, "connections", 4, "number of connections to each Pod")
	return cmd
}

func release(r ring, _ int) (Result, error) {
	for _, node := range r.single {
		if err := node.Set(&memcache.Item{Key: heldKey, Value: []byte(released)}); err != nil {
			return Result{}, err
		}
	}
	return Result{Nodes: r.nodes, Stored: len(r.nodes)}, nil
}

// hold stores the key on each Pod once all connections to the Pod are open. A caller that finds the key on all Pods can
// begin.
func (h *holding) hold(ctx context.Context, r ring) (Result, error) {
	result := Result{Nodes: r.nodes}
	var held []*memcache.Client
	for _, node := range r.nodes {
		for range h.connections {
			client := newClient(once(h.of.access.dial), h.of.timeout, node)
			defer client.Close()
			if _, err := client.Get(heldKey); err != nil && !errors.Is(err, memcache.ErrCacheMiss) {
				return result, err
			}
			held = append(held, client)
		}
		if err := held[len(held)-1].Set(&memcache.Item{Key: heldKey, Value: []byte(resume)}); err != nil {
			return result, err
		}
	}
	result.Held = len(held)
	for end := time.Now().Add(h.duration); time.Now().Before(end) && !readAll(held, &result); {
		select {
		case <-ctx.Done():
			return result, ctx.Err()
		case <-time.After(h.every):
		}
	}
	return result, nil
}

// readAll reads the key over each connection, and returns whether the client may end.
func readAll(held []*memcache.Client, result *Result) (end bool) {
	for _, client := range held {
		item, err := client.Get(heldKey)
		result.note(err)
		switch {
		case errors.Is(err, memcache.ErrCacheMiss):
			result.Missed++
		case err == nil && string(item.Value) == released:
			end = true
		}
	}
	return end
}

var errClosed = errors.New("the connection was closed")

// once returns a dialer that dials only once, so a client whose connection is closed gets no new connection.
func once(dial dialer) dialer {
	dialed := false
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if dialed {
			return nil, errClosed
		}
		dialed = true
		return dial(ctx, network, address)
	}
}
