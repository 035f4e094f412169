// Package peer connects to memcacheds other than the one next to the agent.
package peer

// Finds out whether a memcached can be reached and, if not, why not.

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/mounted"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
)

// Reasons of a failed copy, besides those of the package handoff.
const (
	LoginRefused             = "LoginRefused"             // memcached accepts no user that is mounted here
	ServerCertificateUnknown = "ServerCertificateUnknown" // memcached presents a certificate of another Secret or CA
	ClientCertificateRefused = "ClientCertificateRefused" // memcached requires a client certificate that its CAs signed
)

// Patience is how long a memcached may be unreachable before the copy fails. It may take some seconds until a
// NetworkPolicy allows the connections of a new Pod, and until two Pods have the same version of a Secret.
const Patience = 10 * time.Second

// retryInterval is how long to wait before the next attempt to reach a memcached that does not answer.
const retryInterval = 200 * time.Millisecond

// Reach tries to reach a memcached until patience is over. Its error has the reason why it did not succeed.
func Reach(ctx context.Context, server handoff.Member, patience time.Duration) error {
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var last error // the last error with a reason, because a refusal may also arrive as a reset connection
	for {
		err := Answers(ctx, server.Dial)
		if err == nil {
			return nil
		}
		if last == nil || reason(err) != "" {
			last = err
		}
		if Pause(patient) != nil {
			return errors.Join(ctx.Err(), &handoff.Failure{
				Reason: cmp.Or(reason(last), unreachable(server)), Err: last, Server: server.Name,
			})
		}
	}
}

func unreachable(server handoff.Member) string {
	if server.Side == handoff.New {
		return handoff.NewUnreachable
	}
	return handoff.OldUnreachable
}

// Answers returns an error unless memcached answers. It sends a command, because with TLS 1.3, memcached refuses a
// client's certificate only after the handshake.
func Answers(ctx context.Context, dial handoff.Dial) error {
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

// reason returns the reason of an error; empty if it is only known that memcached does not answer.
func reason(err error) string {
	var unknown *mounted.UnknownError
	var unverified *tls.CertificateVerificationError
	var network *net.OpError
	switch {
	case errors.Is(err, protocol.ErrRefused):
		return LoginRefused
	case errors.As(err, &unknown), errors.As(err, &unverified):
		return ServerCertificateUnknown
	case errors.As(err, &network) && network.Op == "remote error": // an alert of TLS
		return ClientCertificateRefused
	}
	return ""
}

// Pause waits before the next attempt.
func Pause(ctx context.Context) error { return handoff.Wait(ctx, retryInterval) }
