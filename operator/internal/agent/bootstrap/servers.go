package bootstrap

// Connects to the old servers and to the slots.

import (
	"context"
	"crypto/tls"
	"errors"
	"sync"

	"github.com/example-inc/memcached-operator/operator/clienthash"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/mounted"
	"github.com/example-inc/memcached-operator/operator/internal/agent/peer"
)

// move returns which keys move between which servers.
func (o *Options) move() (handoff.Move, error) {
	var fromTLS, toTLS peer.Configure // nil means no TLS
	if o.FromTLSDir != "" {
		fromTLS = func(host string) (*tls.Config, error) { return mounted.Client(o.FromTLSDir, host) }
	}
	if o.TLSDir != "" {
		own := mounted.Certificate{Dir: o.TLSDir, ClientCA: o.ClientCA}
		toTLS = func(string) (*tls.Config, error) { return own.Peer() }
	}
	return handoff.Import(ring(o.FromHash, o.From, o.FromAuthDir, fromTLS), ring(o.ToHash, o.To, o.AuthDir, toTLS))
}

func ring(hash string, servers []string, authDir string, config peer.Configure) handoff.Ring {
	r := handoff.Ring{Hash: clienthash.Algorithm(hash), Names: servers}
	for _, address := range servers {
		r.Dials = append(r.Dials, peer.Dialer(address, authDir, config))
	}
	return r
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
