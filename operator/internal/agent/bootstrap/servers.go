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

// move returns which keys move where.
func (o *Options) move() (handoff.Move, error) {
	from := handoff.Ring{Hash: clienthash.Algorithm(o.FromHash), Names: o.From}
	for _, address := range o.From {
		from.Dials = append(from.Dials, dial(address, o.FromAuthDir, func(host string) (*tls.Config, error) {
			if o.FromTLSDir == "" {
				return nil, nil //nolint:nilnil // No configuration is no TLS.
			}
			return mounted.Client(o.FromTLSDir, host)
		}))
	}
	to := handoff.Ring{Hash: clienthash.Algorithm(o.ToHash), Names: o.To}
	for _, address := range o.To {
		to.Dials = append(to.Dials, dial(address, o.AuthDir, func(string) (*tls.Config, error) {
			if o.TLSDir == "" {
				return nil, nil //nolint:nilnil // As above.
			}
			return mounted.Certificate{Dir: o.TLSDir, ClientCA: o.ClientCA}.Peer()
		}))
	}
	return handoff.Import(from, to)
}

// dial returns how to connect to a server. The Secrets are read each time, because they may change in the meantime.
func dial(address, authDir string, config func(host string) (*tls.Config, error)) handoff.Dial {
	return func(ctx context.Context) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		server := handoff.Server{Address: address}
		if server.TLS, err = config(host); err != nil {
			return nil, err
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

// reach waits until all servers answer. Once clients may use both sides, an old one may have ended.
func (b *bootstrap) reach(ctx context.Context, servers []handoff.Member) error {
	errs := make([]error, len(servers))
	var group sync.WaitGroup
	for i, server := range servers {
		group.Go(func() { errs[i] = peer.Reach(ctx, server, peer.Patience) })
	}
	group.Wait()
	for _, err := range errs {
		var failure *handoff.Failure
		isDown := errors.As(err, &failure) && failure.Reason == handoff.OldUnreachable
		if err != nil && (!b.resumes || !isDown) {
			return err
		}
	}
	return nil
}
