// Package discovery answers clients with auto discovery: which memcached servers the cache has. It speaks the protocol
// of Amazon ElastiCache (https://docs.aws.amazon.com/AmazonElastiCache/latest/dg/AutoDiscovery.AddingToYourClientLibrary.html)
// with the TLS and the passwords of memcached.
package discovery

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
	"github.com/example-inc/memcached-operator/operator/internal/discovery"
)

const (
	// idle is how long a connection may be without a command: longer than the minute after which clients ask again.
	idle = 5 * time.Minute

	// patience is how long a client waits for the list, because a Pod that was just chosen to answer clients gets the list
	// only after some seconds.
	patience = 5 * time.Second

	// pause is how long the server accepts no client after an error of the listener.
	pause = time.Second

	// binary is the first byte of each request of memcached's binary protocol. A client of that protocol could not read
	// an error in text.
	binary = 0x80

	// longestCommand limits the length of a command. The longest valid command is a login with a key of 250 bytes.
	longestCommand = 2048
)

// Server answers clients.
type Server struct {
	// File has the list, and may be empty or missing until the operator has written it.
	File string

	// Login connects to memcached as the agent.
	Login func(context.Context) (*protocol.Client, error)

	// Memcached is memcached's loopback address. Logins of clients are tried there; empty means that clients need no
	// login.
	Memcached string

	Log *slog.Logger
}

// Serve accepts clients until the context ends, and uses TLS if config is not nil.
func (s *Server) Serve(ctx context.Context, address string, config *tls.Config) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	s.accept(ctx, listener, config)
	return nil
}

// accept talks to clients until the context ends. After an error of the listener, such as too many open files, it
// continues: otherwise, the agent would end, and the handoff of a slot with it.
func (s *Server) accept(ctx context.Context, listener net.Listener, config *tls.Config) {
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()
	places := newPlaces()
	for {
		connection, err := listener.Accept()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.Log.Warn("Clients with auto discovery cannot connect", "err", err)
			places.dismiss()
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
			continue
		}
		places.enter(connection)
		go func() {
			defer places.leave(connection)
			defer connection.Close()
			defer context.AfterFunc(ctx, func() { _ = connection.Close() })()
			client := connection
			if config != nil {
				client = tls.Server(connection, config)
			}
			why := s.talk(ctx, client, func() { places.hear(connection) })
			s.Log.Debug("A client with auto discovery was disconnected", "client", connection.RemoteAddr(), "err", why)
		}()
	}
}

// talk answers the commands of a client, calls heard for each of them, and returns why the conversation ended.
func (s *Server) talk(ctx context.Context, connection net.Conn, heard func()) error {
	reader := bufio.NewReaderSize(connection, longestCommand)
	session := session{server: s, in: reader, admitted: s.Memcached == ""}
	for {
		line, err := next(connection, reader)
		if err != nil {
			return err
		}
		heard()
		answer, end := session.answer(ctx, string(line))
		if _, err := connection.Write([]byte(answer)); answer != "" && err != nil {
			return err
		}
		if end != nil {
			return end
		}
	}
}

// next reads a command.
func next(connection net.Conn, reader *bufio.Reader) ([]byte, error) {
	if err := connection.SetDeadline(time.Now().Add(idle)); err != nil {
		return nil, err
	}
	if first, err := reader.Peek(1); err == nil && first[0] == binary {
		return nil, errors.New("a client of the binary protocol")
	}
	line, err := reader.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		_, _ = connection.Write([]byte("CLIENT_ERROR line too long\r\n"))
	}
	return line, err
}

// list reads the list, and waits until the list has a server. If it returned an empty list, a client would drop the
// servers that it knows, until it asks again a minute later.
func (s *Server) list(ctx context.Context) (discovery.List, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		list, err := s.read()
		if err != nil || len(list.Nodes) > 0 {
			return list, err
		}
		select {
		case <-ctx.Done():
			return discovery.List{}, errors.New("the list of servers has not arrived yet")
		case <-time.After(patience / 50):
		}
	}
}

// read returns the current list, which is empty if the operator has not written one yet.
func (s *Server) read() (discovery.List, error) {
	content, err := os.ReadFile(s.File)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(content) == 0 {
		return discovery.List{}, nil
	} else if err != nil {
		return discovery.List{}, err
	}
	return discovery.Decode(string(content))
}
