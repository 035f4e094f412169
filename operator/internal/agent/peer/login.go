package peer

import (
	"context"
	"crypto/tls"
	"errors"
	"net"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/mounted"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
	"github.com/example-inc/memcached-operator/operator/internal/secrets/users"
)

// DialAsAny connects to a memcached, and logs in as the first user of the list that memcached accepts. While users are
// rotated, memcached may not know all of them yet.
func DialAsAny(ctx context.Context, server handoff.Server, list []users.User) (connection net.Conn, err error) {
	for _, user := range list {
		server.User, server.Password = user.Name, user.Password
		connection, err = server.Dial(ctx)
		if !errors.Is(err, protocol.ErrRefused) {
			return connection, err
		}
	}
	return nil, err
}

// Configure returns the TLS configuration for a host.
type Configure func(host string) (*tls.Config, error)

// Dialer returns a function that connects to a server at HOST:PORT. It uses TLS if config is not nil, and logs in if
// authDir, the folder of a Secret with users, is not empty. Secrets are read for each connection, because they may have
// changed.
func Dialer(address, authDir string, config Configure) handoff.Dial {
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
		return DialAsAny(ctx, server, list)
	}
}
