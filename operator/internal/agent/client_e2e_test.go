//go:build e2e

package agent

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// client is an ordinary client of memcached. It shares no code with the agent's client.
type client struct {
	connection net.Conn
	lines      *bufio.Reader
}

// connect opens a connection, over TLS if a configuration is given. Memcached judges a client's certificate after the
// handshake, so a refusal shows only when the client sends its first command.
func connect(t *testing.T, address string, config *tls.Config) (*client, error) {
	t.Helper()
	connection, err := net.DialTimeout("tcp", address, time.Minute)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = connection.Close() })
	if config != nil {
		secured := tls.Client(connection, config)
		if err := secured.HandshakeContext(t.Context()); err != nil {
			return nil, err
		}
		connection = secured
	}
	return &client{connection, bufio.NewReader(connection)}, nil
}

// ask sends a request, and returns this number of lines of the answer.
func (c *client) ask(request string, lines int) (string, error) {
	if err := c.connection.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return "", err
	}
	if _, err := fmt.Fprint(c.connection, request); err != nil {
		return "", err
	}
	var answer []string
	for range lines {
		line, err := c.lines.ReadString('\n')
		if err != nil {
			return "", err
		}
		answer = append(answer, strings.TrimSpace(line))
	}
	return strings.Join(answer, " "), nil
}

func (c *client) login(user, password string) (string, error) {
	login := user + " " + password
	return c.ask(fmt.Sprintf("set auth 0 0 %d\r\n%s\r\n", len(login), login), 1)
}

func (c *client) set(t *testing.T, key, value string) {
	t.Helper()
	answer, err := c.ask(fmt.Sprintf("set %s 0 0 %d\r\n%s\r\n", key, len(value), value), 1)
	if err != nil || answer != "STORED" {
		t.Fatalf("set %s: %q, %v", key, answer, err)
	}
}

func (c *client) want(t *testing.T, key, value string) {
	t.Helper()
	answer, err := c.ask("get "+key+"\r\n", 3)
	if want := fmt.Sprintf("VALUE %s 0 %d %s END", key, len(value), value); err != nil || answer != want {
		t.Fatalf("get %s: %q, %v, want %q", key, answer, err, want)
	}
}

// mustLogin opens a connection and logs in.
func mustLogin(t *testing.T, address string, config *tls.Config, user, password string) *client {
	t.Helper()
	c, err := connect(t, address, config)
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := c.login(user, password); err != nil || answer != "STORED" {
		t.Fatalf("%s is rejected: %q, %v", user, answer, err)
	}
	return c
}

// mustBeRefused opens a connection, and fails the test if memcached accepts the login.
func mustBeRefused(t *testing.T, address string, config *tls.Config, user, password string) {
	t.Helper()
	c, err := connect(t, address, config)
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := c.login(user, password); err != nil || answer != "CLIENT_ERROR authentication failure" {
		t.Fatalf("%s is not refused: %q, %v", user, answer, err)
	}
	if answer, err := c.ask("get key\r\n", 1); err != nil || answer != "CLIENT_ERROR unauthenticated" {
		t.Fatalf("%s reads without a login: %q, %v", user, answer, err)
	}
}
