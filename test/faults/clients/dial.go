package clients

import (
	"context"
	"net"

	"github.com/example-inc/memcached-operator/internal/testing/proc"
)

// InNetworkOf returns a Dial that connects from the network namespace of a process. It needs root, and Linux.
func InNetworkOf(pid func() (int, error)) Dial {
	return func(ctx context.Context, network, address string) (connection net.Conn, err error) {
		of, err := pid()
		if err != nil {
			return nil, err
		}
		err = proc.InNetworkOf(of, func() error {
			connection, err = (&net.Dialer{}).DialContext(ctx, network, address)
			return err
		})
		return connection, err
	}
}
