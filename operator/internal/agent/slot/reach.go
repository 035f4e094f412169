package slot

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/mounted"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
)

// Reasons of a failed copy, besides those of the package handoff.
const (
	LoginRefused             = "LoginRefused"             // the old memcached accepts no user that is mounted here
	ServerCertificateUnknown = "ServerCertificateUnknown" // the old memcached presents a certificate of another Secret
	ClientCertificateRefused = "ClientCertificateRefused" // the old memcached requires a client certificate by its CAs
)

// retryInterval is how long to wait for a memcached that does not answer.
const retryInterval = 200 * time.Millisecond

// reach tries to reach a memcached for some time. The error names the reason.
func reach(ctx context.Context, dial handoff.Dial, patience time.Duration) error {
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var last error // that has a reason: a refusal may also arrive as a connection that is reset
	for {
		err := answers(ctx, dial)
		if err == nil {
			return nil
		}
		if last == nil || reason(err) != handoff.OldUnreachable {
			last = err
		}
		if pause(patient) != nil {
			return errors.Join(ctx.Err(), &handoff.Failure{Reason: reason(last), Err: last})
		}
	}
}

// answers asks one question: with TLS 1.3, memcached refuses a client's certificate only behind the handshake.
func answers(ctx context.Context, dial handoff.Dial) error {
	ctx, cancel := context.WithTimeout(ctx, protocol.Timeout)
	defer cancel()
	connection, err := dial(ctx)
	if err != nil {
		return err
	}
	defer connection.Close()
	defer context.AfterFunc(ctx, func() { _ = connection.SetDeadline(time.Unix(1, 0)) })()
	if _, err := connection.Write([]byte("version\r\n")); err != nil {
		return err
	}
	_, err = connection.Read(make([]byte, 1))
	return err
}

func reason(err error) string {
	var unknown *mounted.UnknownError
	var network *net.OpError
	switch {
	case errors.Is(err, protocol.ErrRefused):
		return LoginRefused
	case errors.As(err, &unknown):
		return ServerCertificateUnknown
	case errors.As(err, &network) && network.Op == "remote error": // an alert of TLS
		return ClientCertificateRefused
	}
	return handoff.OldUnreachable
}

// pause waits before the next attempt.
func pause(ctx context.Context) error { return handoff.Wait(ctx, retryInterval) }
