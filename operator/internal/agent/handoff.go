package agent

// Connects the packages by which the agent follows the operator's instructions for the slot of its Pod.

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/peer"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
	"github.com/example-inc/memcached-operator/operator/internal/agent/reload"
	"github.com/example-inc/memcached-operator/operator/internal/agent/resize"
	"github.com/example-inc/memcached-operator/operator/internal/agent/slot"
	"github.com/example-inc/memcached-operator/operator/internal/secrets/users"
)

// follower returns the slot.Follower, which follows the operator's instructions for the slot of the Pod.
func (a *agent) follower() *slot.Follower {
	end := func(ctx context.Context) error { return endMemcached(ctx, a.dialOwn, a.options.Proc) }
	a.copier = &slot.Memcached{
		Own: a.dialOwn, Peer: a.peer, Signal: end, Give: a.resizer(nil).Give, Log: a.log, Timeout: a.options.HandoffTimeout,
		Watching: a.usage.Watching,
	}
	return &slot.Follower{File: a.options.HandoffFile, Copier: a.copier, Log: a.log}
}

// resizer returns the resize.Follower, which gives memcached as much memory as wanted returns.
func (a *agent) resizer(wanted func() int64) *resize.Follower {
	return &resize.Follower{Wanted: wanted, Dial: a.dialOwn, Log: a.log}
}

// dialOwn connects to memcached on the loopback interface.
func (a *agent) dialOwn(ctx context.Context) (net.Conn, error) {
	client, err := a.login(ctx)
	if err != nil {
		return nil, err
	}
	return client.Connection(), nil
}

// peer returns a function that connects to the memcached of another Pod of the cache, which listens on the same port.
// The function reads the Secrets for each connection, because they may have changed.
func (a *agent) peer(address string) handoff.Dial {
	return func(ctx context.Context) (net.Conn, error) {
		server, err := a.server(address)
		if err != nil {
			return nil, err
		}
		return a.options.dial(ctx, server)
	}
}

// dial connects to a memcached. If memcached has an authentication file, dial logs in as one of the users in it.
func (o *Options) dial(ctx context.Context, server handoff.Server) (net.Conn, error) {
	if o.AuthFile == "" {
		return server.Dial(ctx)
	}
	content, err := os.ReadFile(o.AuthFile)
	if err != nil {
		return nil, err
	}
	list, err := users.ParseFile(content)
	if err != nil {
		return nil, err
	}
	return peer.DialAsAny(ctx, server, list)
}

func (a *agent) server(address string) (handoff.Server, error) {
	source, own := a.options.certificate(), a.options.MemcachedAddress
	if source != nil {
		own = a.options.MemcachedTLSAddress
	}
	_, port, err := net.SplitHostPort(own)
	if err != nil {
		return handoff.Server{}, err
	}
	server := handoff.Server{Address: net.JoinHostPort(address, port)}
	if source != nil {
		server.TLS, err = source.Peer()
	}
	return server, err
}

func endMemcached(ctx context.Context, dial handoff.Dial, proc string) error {
	pid, err := processOf(ctx, dial)
	if err != nil {
		return err
	}
	return reload.EndInOrder(ctx, proc, pid)
}

// processOf asks memcached for its process id, because a Pod may run more than one memcached.
func processOf(ctx context.Context, dial handoff.Dial) (int, error) {
	connection, err := dial(ctx)
	if err != nil {
		return 0, err
	}
	defer connection.Close()
	stats, err := protocol.New(connection).Stats(ctx, "")
	if err != nil {
		return 0, err
	}
	pid, err := strconv.Atoi(stats["pid"])
	if err != nil {
		return 0, fmt.Errorf("memcached reports no process id: %w", err)
	}
	return pid, nil
}
