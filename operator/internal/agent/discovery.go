package agent

import (
	"context"
	"crypto/tls"

	"golang.org/x/sync/errgroup"

	"github.com/example-inc/memcached-operator/operator/internal/agent/discovery"
)

// addDiscovery starts to answer clients with auto discovery: in plaintext, over TLS or both, depending on the options.
func (a *agent) addDiscovery(ctx context.Context, group *errgroup.Group) {
	if a.options.DiscoveryFile == "" {
		return
	}
	server := &discovery.Server{File: a.options.DiscoveryFile, Login: a.login, Log: a.log.With("part", "discovery")}
	if a.users != nil {
		server.Memcached = a.options.MemcachedAddress
	}
	if address := a.options.DiscoveryAddress; address != "0" {
		group.Go(func() error { return server.Serve(ctx, address, nil) })
	}
	address, source := a.options.DiscoveryTLSAddress, a.options.certificate()
	if address == "0" || source == nil {
		return
	}
	oldest := uint16(tls.VersionTLS12)
	if a.options.TLS13 {
		oldest = tls.VersionTLS13
	}
	group.Go(func() error {
		return server.Serve(ctx, address, source.Server(a.options.RequireClientCertificate, oldest))
	})
}
