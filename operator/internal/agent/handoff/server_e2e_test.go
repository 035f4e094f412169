//go:build e2e

package handoff_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
	"github.com/example-inc/memcached-operator/operator/clienthash"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
)

func TestItemsAreCopiedThroughTLSWithAPassword(t *testing.T) {
	certificate := agenttest.NewCertificate(t, nil)
	dir := t.TempDir()
	for name, content := range certificate.Secret() {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	users := filepath.Join(dir, "users")
	if err := os.WriteFile(users, []byte("ann:secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	arguments := []string{
		"--enable-ssl", "--extended=ssl_chain_cert=" + dir + "/tls.crt,ssl_key=" + dir + "/tls.key", "--auth-file=" + users,
	}
	pool := x509.NewCertPool()
	pool.AddCert(certificate.Parsed)
	dial := func(server *memcachedtest.Server, password string) handoff.Dial {
		return handoff.Server{
			Address: server.Address, TLS: &tls.Config{RootCAs: pool, ServerName: "memcached.test"},
			User: "ann", Password: password,
		}.Dial
	}
	old, next := start(t, arguments...), start(t, arguments...)

	r := run(t, dial(old, "wrong"), dial(next, "secret"))
	if err := r.end(t); !errors.Is(err, protocol.ErrRefused) {
		t.Errorf("error %v", err)
	}
	c := secured(t, dial(old, "secret"))
	c.set(t, "key", "value", "T0")
	r = run(t, dial(old, "secret"), dial(next, "secret"))
	r.copy(t)
	if answer, value, err := secured(t, dial(next, "secret")).get("key", ""); err != nil || value != "value" {
		t.Errorf("%q, %q, %v", answer, value, err)
	}

	// If the list gets another length, the servers are not emptied: the agent searches them for the keys to remove.
	names := []string{"shop-0.shop-slots.team.svc:11211", "shop-1.shop-slots.team.svc:11211"}
	move, err := handoff.Relist(clienthash.CRC32Modulo, names, []handoff.Dial{dial(old, "secret"), dial(next, "secret")}, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	r.stop()
	_ = r.end(t)
	launch(t, move, func(ctx context.Context, h *handoff.Handoff) error { return h.Run(ctx) }).copy(t)
}
