package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/bradfitz/gomemcache/memcache"
)

// Secure makes a client use TLS and log in. The ServerName in the config must be a name that the certificates of all
// Pods have, such as "shop.team.svc".
func Secure(client *memcache.Client, config *tls.Config, user, password string) {
	client.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		connection, err := (&tls.Dialer{Config: config}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		login := user + " " + password
		_, err = fmt.Fprintf(connection, "set login 0 0 %d\r\n%s\r\n", len(login), login)
		answer := make([]byte, len("STORED\r\n"))
		if err == nil {
			_, err = io.ReadFull(connection, answer)
		}
		if err == nil && string(answer) != "STORED\r\n" {
			err = errors.New("memcached refuses the login")
		}
		if err != nil {
			return nil, errors.Join(err, connection.Close())
		}
		return connection, nil
	}
}
