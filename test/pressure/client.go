package pressure

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"
)

const (
	// segment is the number of bytes that fit into a packet on Ethernet. It is set because packets on the loopback
	// interface are larger, and so are the kernel's buffers for them.
	segment = 1448

	// window is how many bytes of an answer the kernel of a client accepts before the client reads them.
	window = 16 << 10

	patience = 5 * time.Minute
)

// client speaks memcached's protocol over one connection.
type client struct {
	net.Conn
	answers *bufio.Reader
}

func (l Load) dial(ctx context.Context) (*client, error) {
	dialer := net.Dialer{Timeout: patience, Control: func(_, _ string, raw syscall.RawConn) (err error) {
		controlErr := raw.Control(func(descriptor uintptr) {
			err = syscall.SetsockoptInt(int(descriptor), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, segment)
			if err == nil {
				err = syscall.SetsockoptInt(int(descriptor), syscall.SOL_SOCKET, syscall.SO_RCVBUF, window)
			}
		})
		if err == nil {
			err = controlErr
		}
		return err
	}}
	connection, err := dialer.DialContext(ctx, "tcp", l.Address)
	if err != nil {
		return nil, err
	}
	if err := connection.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	if l.TLS != nil {
		secured := tls.Client(connection, l.TLS)
		if err := secured.HandshakeContext(ctx); err != nil {
			return nil, err
		}
		connection = secured
	}
	return &client{Conn: connection, answers: bufio.NewReader(connection)}, nil
}

// set stores a value of this size, and returns memcached's answer.
func (c *client) set(key string, size int64) (answer string, err error) {
	out := bufio.NewWriter(c)
	fmt.Fprintf(out, "set %s 0 0 %d\r\n", key, size)
	_, _ = out.Write(bytes.Repeat([]byte("x"), int(size)))
	_, _ = out.WriteString("\r\n")
	if err := out.Flush(); err != nil {
		return "", err
	}
	answer, err = c.answers.ReadString('\n')
	return strings.TrimSpace(answer), err
}

// stored does the same as set, and returns an error if the value was not stored.
func (c *client) stored(key string, size int64) error {
	answer, err := c.set(key, size)
	if err == nil && answer != "STORED" {
		err = fmt.Errorf("memcached does not store %d bytes: %s", size, answer)
	}
	return err
}

// stats requests statistics of this kind, or the general statistics.
func (c *client) stats(kind string) (map[string]string, error) {
	if _, err := fmt.Fprintf(c, "stats%s\r\n", kind); err != nil {
		return nil, err
	}
	stats := map[string]string{}
	for {
		line, err := c.answers.ReadString('\n')
		if err != nil {
			return nil, err
		}
		fields := strings.Fields(line)
		switch {
		case len(fields) == 1 && fields[0] == "END":
			return stats, nil
		case len(fields) == 3 && fields[0] == "STAT":
			stats[fields[1]] = fields[2]
		default:
			return nil, fmt.Errorf("memcached answers %q to stats", line)
		}
	}
}
