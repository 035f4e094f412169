// Package protocol is a client of memcached's ASCII protocol, limited to what the agent needs: it logs in, reads
// statistics, and makes memcached reload certificates.
//
// After an error other than ErrRefused, a client cannot be used any more, because the state of its connection is
// unknown.
package protocol

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// Timeout limits how long memcached may take to answer a command. On the loopback interface it takes well below a
// millisecond.
const Timeout = 3 * time.Second

// ErrRefused means that the user or the password is wrong.
var ErrRefused = errors.New("memcached refuses the user name or the password")

// Client is a connection to memcached, for one goroutine at a time.
type Client struct {
	connection net.Conn
	reader     *bufio.Reader
	limit      time.Duration // how long an answer may take; 0 means Timeout
}

// Dial connects to memcached, and uses TLS if config is not nil.
func Dial(ctx context.Context, address string, config *tls.Config) (*Client, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot reach memcached: %w", err)
	}
	if config != nil {
		secured, err := Secure(ctx, connection, config)
		if err != nil {
			return nil, fmt.Errorf("TLS handshake with memcached at %s: %w", address, err)
		}
		connection = secured
	}
	return New(connection), nil
}

// Secure starts TLS on a connection. If that fails, it closes the connection.
func Secure(ctx context.Context, connection net.Conn, config *tls.Config) (net.Conn, error) {
	secured := tls.Client(connection, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = connection.Close()
		return nil, err
	}
	return secured, nil
}

// New returns a client for an open connection on which no answer is outstanding.
func New(connection net.Conn) *Client {
	return &Client{connection: connection, reader: newReader(connection)}
}

// Within sets how long memcached may take to answer a command. The default is Timeout.
func (c *Client) Within(limit time.Duration) *Client {
	c.limit = limit
	return c
}

// Connection returns the client's connection, for callers that use other parts of the protocol from then on.
func (c *Client) Connection() net.Conn { return c.connection }

// Close closes the connection.
func (c *Client) Close() error { return c.connection.Close() }

// Authenticate logs in. If memcached requires no password, the login is an ordinary command that stores an item. This
// item has expired from the start, so it can never be read.
func (c *Client) Authenticate(ctx context.Context, user, password string) error {
	if strings.ContainsAny(user+password, " \r\n\x00") {
		return errors.New("memcached accepts no blanks and no line ends in user names and passwords")
	}
	answer, err := c.command(ctx,
		fmt.Sprintf("set memcached-agent 0 -1 %d\r\n%s %s\r\n", len(user)+1+len(password), user, password), readLine)
	switch {
	case err != nil:
		return err
	case answer == "STORED":
		return nil
	case answer == "CLIENT_ERROR authentication failure":
		return ErrRefused
	}
	return unexpected(answer)
}

// Stats returns the statistics of a kind: "settings", "items", "slabs", or "" for the general statistics.
func (c *Client) Stats(ctx context.Context, kind string) (stats map[string]string, err error) {
	_, err = c.command(ctx, strings.TrimSpace("stats "+kind)+"\r\n", func(reader *bufio.Reader) (_ string, err error) {
		stats, err = readStats(reader)
		return "", err
	})
	return stats, err
}

// Ask sends a command whose answer is one line, and returns that line.
func (c *Client) Ask(ctx context.Context, request string) (string, error) {
	return c.command(ctx, request, readLine)
}

// RefreshCertificates makes memcached reload its certificate, key and client CAs. New connections use the reloaded
// files, and open connections stay open. Check the files first, because memcached would replace a working certificate
// even if the new certificate and key do not match.
func (c *Client) RefreshCertificates(ctx context.Context) error {
	answer, err := c.Ask(ctx, "refresh_certs\r\n")
	if err != nil || answer == "OK" {
		return err
	}
	return unexpected(answer)
}

// command sends a request and reads the answer. It fails if the context ends before the answer has arrived.
func (c *Client) command(
	ctx context.Context, request string, read func(*bufio.Reader) (string, error),
) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.limit, Timeout))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = c.connection.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := c.connection.Write([]byte(request)); err != nil {
		return "", fmt.Errorf("memcached accepts no commands: %w", err)
	}
	return read(c.reader)
}
