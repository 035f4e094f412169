package bootstrap

// How both sides are reached.

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"

	"github.com/example-inc/memcached-operator/operator/clienthash"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/mounted"
	"github.com/example-inc/memcached-operator/operator/internal/agent/peer"
	"github.com/example-inc/memcached-operator/operator/internal/secrets/users"
)

// configure returns the TLS configuration for a host.
type configure func(host string) (*tls.Config, error)

// move returns which keys move where.
func (o *Options) move() (handoff.Move, error) {
	var fromTLS, toTLS configure // nil is no TLS
	if o.FromTLSDir != "" {
		fromTLS = func(host string) (*tls.Config, error) { return mounted.Client(o.FromTLSDir, host) }
	}
	if o.TLSDir != "" {
		own := mounted.Certificate{Dir: o.TLSDir, ClientCA: o.ClientCA}
		toTLS = func(string) (*tls.Config, error) { return own.Peer() }
	}
	return handoff.Import(ring(o.FromHash, o.From, o.FromAuthDir, fromTLS), ring(o.ToHash, o.To, o.AuthDir, toTLS))
}

func ring(hash string, servers []string, authDir string, config configure) handoff.Ring {
	r := handoff.Ring{Hash: clienthash.Algorithm(hash), Names: servers}
	for _, address := range servers {
		r.Dials = append(r.Dials, dial(address, authDir, config))
	}
	return r
}

// dial returns how to connect to a server. The Secrets are read each time, because they may change in the meantime.
func dial(address, authDir string, config configure) handoff.Dial {
	return func(ctx context.Context) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		server := handoff.Server{Address: address}
		if config != nil {
			if server.TLS, err = config(host); err != nil {
				return nil, err
			}
		}
		if authDir == "" {
			return server.Dial(ctx)
		}
		secret, err := mounted.Read(authDir, users.KeyUsername, users.KeyPassword, users.KeyUsers)
		if err != nil {
			return nil, err
		}
		list, err := users.Parse(secret)
		if err != nil {
			return nil, err
		}
		return peer.DialAsAny(ctx, server, list)
	}
}

// reach waits until all servers answer.
func reach(ctx context.Context, servers []handoff.Member) error {
	errs := make([]error, len(servers))
	var group sync.WaitGroup
	for i, server := range servers {
		group.Go(func() { errs[i] = peer.Reach(ctx, server, peer.Patience) })
	}
	group.Wait()
	return errors.Join(errs...)
}
