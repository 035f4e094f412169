package handoff

import (
	"context"
	"crypto/tls"
	"net"

	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
)

// Server is the address of a memcached, with all that Dial needs to connect to it.
type Server struct {
	Address string

	// TLS is nil for plaintext.
	TLS *tls.Config

	// User is empty if memcached requires no password.
	User, Password string
}

// Dial opens a connection.
func (s Server) Dial(ctx context.Context) (net.Conn, error) {
	client, err := protocol.Dial(ctx, s.Address, s.TLS)
	if err != nil {
		return nil, err
	}
	if s.User != "" {
		if err := client.Authenticate(ctx, s.User, s.Password); err != nil {
			_ = client.Close()
			return nil, err
		}
	}
	return client.Connection(), nil
}
