// Package discovery answers clients with auto discovery: which memcached servers the cache has. It speaks the protocol
// of Amazon ElastiCache (https://docs.aws.amazon.com/AmazonElastiCache/latest/dg/AutoDiscovery.AddingToYourClientLibrary.html)
// with the TLS and the passwords of memcached.
package discovery

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"time"

	"golang.org/x/net/netutil"

	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
	"github.com/example-inc/memcached-operator/operator/internal/discovery"
)

const (
	// connections limits the memory that clients can use. A client needs one connection, for a moment a minute.
	connections = 128

	// idle is how long a connection may be without a command: longer than the minute after which clients ask again.
	idle = 5 * time.Minute

	// patience is how long a client waits for the list: a Pod that was just chosen to answer gets it within seconds.
	patience = 5 * time.Second

	// longestCommand limits a command. The longest legal one is a login, with its key of 250 bytes.
	longestCommand = 2048
)

// Server answers clients.
type Server struct {
	// File has the list, and may be empty or missing until the operator has written it.
	File string

	// Login connects to memcached as the agent.
	Login func(context.Context) (*protocol.Client, error)

	// Memcached is memcached's loopback address. Logins of clients are tried there; empty means that clients need none.
	Memcached string

	Log *slog.Logger
}

// Serve accepts clients until the context ends; over TLS with a configuration.
func (s *Server) Serve(ctx context.Context, address string, config *tls.Config) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	listener = netutil.LimitListener(listener, connections)
	if config != nil {
		listener = tls.NewListener(listener, config)
	}
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()
	for {
		connection, err := listener.Accept()
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("accept clients with auto discovery: %w", err)
		}
		go func() {
			defer connection.Close()
			defer context.AfterFunc(ctx, func() { _ = connection.Close() })()
			if err := s.talk(ctx, connection); err != nil {
				s.Log.Debug("A client with auto discovery was disconnected", "client", connection.RemoteAddr(), "err", err)
			}
		}()
	}
}

// talk answers the commands of a client until it disconnects.
func (s *Server) talk(ctx context.Context, connection net.Conn) error {
	reader := bufio.NewReaderSize(connection, longestCommand)
	session := session{server: s, in: reader, admitted: s.Memcached == ""}
	for {
		if err := connection.SetDeadline(time.Now().Add(idle)); err != nil {
			return err
		}
		line, err := reader.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			_, err = connection.Write([]byte("CLIENT_ERROR line too long\r\n"))
			return err
		} else if err != nil {
			return err
		}
		answer, err := session.answer(ctx, string(line))
		if answer != "" {
			if _, err := connection.Write([]byte(answer)); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
}

// list reads the list, and waits for it if there is none yet.
func (s *Server) list(ctx context.Context) (discovery.List, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		content, err := os.ReadFile(s.File)
		if err == nil && len(content) > 0 {
			return discovery.Decode(string(content))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return discovery.List{}, err
		}
		select {
		case <-ctx.Done():
			return discovery.List{}, errors.New("the list of servers is not here yet")
		case <-time.After(patience / 50):
		}
	}
}
