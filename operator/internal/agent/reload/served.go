package reload

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"time"
)

// handshakeTimeout limits how long memcached may take to present its certificate.
const handshakeTimeout = 3 * time.Second

// Served returns the certificate that memcached presents. It sends only a handshake, so the server need not be
// verified. If memcached requires a client certificate, memcached ends the handshake, but only after it has presented
// its own certificate.
func Served(ctx context.Context, address string) (*x509.Certificate, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot reach memcached: %w", err)
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(handshakeTimeout)); err != nil {
		return nil, err
	}
	var leaf *x509.Certificate
	secured := tls.Client(connection, &tls.Config{
		InsecureSkipVerify: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			leaf = state.PeerCertificates[0]
			return nil
		},
	})
	if err := secured.HandshakeContext(ctx); err == nil {
		// Otherwise, memcached logs an error, because the connection is closed before memcached has read from it.
		_ = secured.CloseWrite()
		_, _ = io.Copy(io.Discard, secured)
	} else if leaf == nil {
		return nil, fmt.Errorf("memcached presents no certificate at %s: %w", address, err)
	}
	return leaf, nil
}
