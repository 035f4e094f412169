package reload

import (
	"context"
	"crypto/x509"
	"errors"
	"sync"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/mounted"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
	"github.com/example-inc/memcached-operator/operator/internal/secrets/certs"
)

// servedFor is for how long Served returns the last certificate without a new connection to memcached. With mutual TLS,
// each such connection is a failed handshake, and some versions of memcached log it.
const servedFor = time.Minute

// Certificates are memcached's certificate with its key, and the CAs of its clients.
type Certificates struct {
	// Source is the mounted Secret.
	Source mounted.Certificate

	// Address is the address of memcached's TLS port.
	Address string

	// Login connects to memcached, with a password if it requires one.
	Login func(context.Context) (*protocol.Client, error)

	mounted *certs.Content

	mutex  sync.Mutex
	served *x509.Certificate
	asked  time.Time
}

// Read implements Subject. It returns an error for content that memcached could not load.
func (c *Certificates) Read() (string, error) {
	mounted, err := c.Source.Load()
	if err != nil {
		return "", err
	}
	c.mounted = mounted
	return mounted.Sum, nil
}

// Reload makes memcached load the files. Memcached adds the new client CAs, and continues to accept the old ones.
func (c *Certificates) Reload(ctx context.Context) error {
	client, err := c.Login(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	return client.RefreshCertificates(ctx)
}

// Check compares the certificate that memcached serves with the mounted one.
func (c *Certificates) Check(ctx context.Context) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	served, err := c.ask(ctx)
	if err == nil && !served.Equal(c.mounted.Leaf) {
		return errors.New("memcached does not serve the mounted certificate")
	}
	return err
}

// Served returns the certificate that memcached serves, or that it served within the last minute.
func (c *Certificates) Served(ctx context.Context) (*x509.Certificate, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.served != nil && time.Since(c.asked) < servedFor {
		return c.served, nil
	}
	return c.ask(ctx)
}

func (c *Certificates) ask(ctx context.Context) (served *x509.Certificate, err error) {
	c.asked = time.Now()
	c.served, err = Served(ctx, c.Address)
	return c.served, err
}
