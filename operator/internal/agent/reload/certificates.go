package reload

import (
	"context"
	"errors"

	"github.com/example-inc/memcached-operator/operator/internal/agent/certs"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
)

// Certificates are memcached's own certificate with its key, and the CAs of its clients.
type Certificates struct {
	// Dir is the folder that the Secret is mounted at.
	Dir string

	// Address is where memcached speaks TLS.
	Address string

	// Login connects to memcached, with a password where it asks for one.
	Login func(context.Context) (*protocol.Client, error)

	mounted *certs.Mounted
}

// Read refuses what memcached could not load.
func (c *Certificates) Read() (string, error) {
	mounted, err := certs.Load(c.Dir)
	if err != nil {
		return "", err
	}
	c.mounted = mounted
	return mounted.Sum, nil
}

// Tell has the files loaded. Of client CAs, memcached adds those that are new and keeps those that it had.
func (c *Certificates) Tell(ctx context.Context) error {
	client, err := c.Login(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	return client.RefreshCertificates(ctx)
}

// Check compares the certificate that memcached serves with the one that is mounted.
func (c *Certificates) Check(ctx context.Context) error {
	served, err := certs.Served(ctx, c.Address)
	if err != nil {
		return err
	}
	if !served.Equal(c.mounted.Leaf) {
		return errors.New("memcached serves another certificate than the one that is mounted")
	}
	return nil
}
