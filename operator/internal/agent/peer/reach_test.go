package peer

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/mounted"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
)

func old(dial handoff.Dial) handoff.Member { return handoff.Member{Side: handoff.Old, Dial: dial} }

func TestTheReasonWhyAPodIsNotReached(t *testing.T) {
	tests := map[string]struct {
		err  error
		want string
	}{
		"nothing listens":             {&net.OpError{Op: "dial", Err: io.EOF}, handoff.OldUnreachable},
		"it closes the connection":    {io.EOF, handoff.OldUnreachable},
		"no user is known":            {fmt.Errorf("login: %w", protocol.ErrRefused), LoginRefused},
		"another Secret":              {fmt.Errorf("handshake: %w", &mounted.UnknownError{}), ServerCertificateUnknown},
		"another CA":                  {fmt.Errorf("handshake: %w", &tls.CertificateVerificationError{}), ServerCertificateUnknown},
		"the certificate is rejected": {fmt.Errorf("read: %w", &net.OpError{Op: "remote error", Err: io.EOF}), ClientCertificateRefused},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dial := func(context.Context) (net.Conn, error) { return nil, test.err }
			var failure *handoff.Failure
			if err := Reach(t.Context(), old(dial), 0); !errors.As(err, &failure) || failure.Reason != test.want {
				t.Errorf("%v, want the reason %s", err, test.want)
			}
		})
	}
}

func TestTheServerThatIsNotReachedIsNamed(t *testing.T) {
	dial := func(context.Context) (net.Conn, error) { return nil, errors.New("no answer") }
	for side, want := range map[string]string{
		handoff.Old: "OldUnreachable: cache-1:11211: no answer", handoff.New: "NewUnreachable: cache-1:11211: no answer",
	} {
		err := Reach(t.Context(), handoff.Member{Side: side, Name: "cache-1:11211", Dial: dial}, 0)
		if fmt.Sprint(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestAClientCertificateThatIsRequiredIsNamed connects to a server that refuses clients without a certificate, as
// OpenSSL does: with TLS 1.3, the refusal arrives after the handshake.
func TestAClientCertificateThatIsRequiredIsNamed(t *testing.T) {
	served := agenttest.NewCertificate(t, nil)
	pair, err := tls.X509KeyPair([]byte(served.PEM), []byte(served.Key))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAnyClientCert,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = connection.Read(make([]byte, 1))
			_ = connection.Close()
		}
	}()
	server := handoff.Server{Address: listener.Addr().String(), TLS: &tls.Config{InsecureSkipVerify: true}}
	var failure *handoff.Failure
	err = Reach(t.Context(), old(server.Dial), 0)
	if !errors.As(err, &failure) || failure.Reason != ClientCertificateRefused {
		t.Error(err)
	}
}

// TestARefusalOutlivesAConnectionThatIsReset: memcached closes the connection after it has refused a client. If the
// client still writes, its connection may be reset before it has read the refusal.
func TestARefusalOutlivesAConnectionThatIsReset(t *testing.T) {
	attempts := 0
	dial := func(context.Context) (net.Conn, error) {
		if attempts++; attempts == 1 {
			return nil, protocol.ErrRefused
		}
		return nil, syscall.ECONNRESET
	}
	var failure *handoff.Failure
	err := Reach(t.Context(), old(dial), 3*retryInterval)
	if !errors.As(err, &failure) || failure.Reason != LoginRefused || attempts < 2 {
		t.Errorf("%v after %d attempts", err, attempts)
	}
}

func TestAPodThatIsReachableAfterAWhileIsReached(t *testing.T) {
	attempts := 0
	dial := func(context.Context) (net.Conn, error) {
		if attempts++; attempts < 3 {
			return nil, errors.New("a NetworkPolicy is not applied yet")
		}
		near, far := net.Pipe()
		go func() {
			_, _ = far.Read(make([]byte, len("version\r\n")))
			_, _ = far.Write([]byte("VERSION 1.6.45\r\n"))
		}()
		return near, nil
	}
	if err := Reach(t.Context(), old(dial), time.Minute); err != nil || attempts != 3 {
		t.Errorf("%d attempts: %v", attempts, err)
	}
}

func TestReachingEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	dial := func(context.Context) (net.Conn, error) {
		cancel()
		return nil, io.EOF
	}
	if err := Reach(ctx, old(dial), time.Minute); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
