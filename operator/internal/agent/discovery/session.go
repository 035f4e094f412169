package discovery

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
)

// session is the conversation with one client.
type session struct {
	server   *Server
	in       *bufio.Reader
	admitted bool
}

// errQuit means that the client has sent the command quit.
var errQuit = errors.New("the client has quit")

// answer returns the answer to a command. If it returns an error, the connection ends.
func (s *session) answer(ctx context.Context, line string) (string, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return "ERROR\r\n", nil
	}
	command := words[0]
	if isStorage(command) {
		return s.store(ctx, words)
	}
	switch {
	case command == "quit":
		return "", errQuit
	case !s.admitted:
		return "CLIENT_ERROR unauthenticated\r\n", nil
	case command == "version":
		return s.version(ctx), nil
	case len(words) == 3 && command == "config" && words[1] == "get" && words[2] == "cluster":
		return s.servers(ctx, "CONFIG cluster"), nil
	case len(words) == 2 && (command == "get" || command == "gets") && words[1] == oldKey:
		return s.servers(ctx, "VALUE "+oldKey), nil
	}
	return s.elsewhere(), nil
}

// oldKey is the key that clients read to get the list, if they assume that memcached is older than 1.4.14.
const oldKey = "AmazonElastiCache:cluster"

// servers answers with the list.
func (s *session) servers(ctx context.Context, header string) string {
	list, err := s.server.list(ctx)
	if err != nil {
		s.server.Log.Warn("A client requests the servers of the cache, but this Pod does not know them", "err", err)
		return "SERVER_ERROR " + err.Error() + ": ask again\r\n"
	}
	payload := list.Payload()
	return fmt.Sprintf("%s 0 %d\r\n%s\r\nEND\r\n", header, len(payload), payload)
}

// version answers with the version of memcached in the same Pod. Clients use this version to choose the command that
// requests the list.
func (s *session) version(ctx context.Context) string {
	client, err := s.server.Login(ctx)
	if err == nil {
		defer client.Close()
		var version string
		if version, err = client.Ask(ctx, "version\r\n"); err == nil {
			return version + "\r\n"
		}
	}
	s.server.Log.Warn("A client requests memcached's version, but memcached does not answer", "err", err)
	return "SERVER_ERROR memcached does not answer: ask again\r\n"
}

// elsewhere refuses a command that clients have to send to memcached itself.
func (s *session) elsewhere() string {
	list, err := s.server.read()
	if err != nil || list.Endpoint == "" {
		return "CLIENT_ERROR this is the discovery endpoint, which has no keys\r\n"
	}
	return "CLIENT_ERROR this is the discovery endpoint, which has no keys: use " + list.Endpoint + "\r\n"
}

func isStorage(command string) bool {
	switch command {
	case "set", "add", "replace", "append", "prepend", "cas":
		return true
	}
	return false
}

// mostData is the longest value that the session reads. The value of a login is much shorter.
const mostData = 1 << 20

// store answers a command that stores a value: it reads the value, which follows the command. If clients need a
// password, the first value that a client sends is its login.
func (s *session) store(ctx context.Context, words []string) (string, error) {
	if len(words) < 5 {
		return "ERROR\r\n", nil
	}
	length, err := strconv.Atoi(words[4])
	if err != nil || length < 0 || length > mostData {
		return "CLIENT_ERROR bad data chunk\r\n", errors.New("a value whose length is not known")
	}
	if s.admitted || length > longestCommand {
		if _, err := io.CopyN(io.Discard, s.in, int64(length)+2); err != nil {
			return "", err
		}
		if !s.admitted {
			return "CLIENT_ERROR authentication failure\r\n", nil
		}
		return s.elsewhere(), nil
	}
	value := make([]byte, length+2)
	if _, err := io.ReadFull(s.in, value); err != nil {
		return "", err
	}
	return s.login(ctx, string(value[:length])), nil
}

// login admits the client if memcached accepts the same login.
func (s *session) login(ctx context.Context, value string) string {
	user, password, _ := strings.Cut(value, " ")
	client, err := protocol.Dial(ctx, s.server.Memcached, nil)
	if err == nil {
		defer client.Close()
		err = client.Authenticate(ctx, user, password)
	}
	switch {
	case err == nil:
		s.admitted = true
		return "STORED\r\n"
	case errors.Is(err, protocol.ErrRefused), strings.ContainsAny(password, " \r\n\x00"):
		return "CLIENT_ERROR authentication failure\r\n"
	}
	s.server.Log.Warn("A client cannot log in, because memcached does not answer", "err", err)
	return "SERVER_ERROR memcached does not answer: ask again\r\n"
}
