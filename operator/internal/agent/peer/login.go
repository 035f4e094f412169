package peer

import (
	"context"
	"errors"
	"net"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
	"github.com/example-inc/memcached-operator/operator/internal/secrets/users"
)

// DialAsAny logs in as the first user that memcached accepts: while users are rotated, it may not know all of them yet.
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
