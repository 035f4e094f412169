// Command gomemcache uses the client library gomemcache as an application would.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"time"

	"github.com/bradfitz/gomemcache/memcache"

	"github.com/example-inc/memcached-operator/test/clients/load"
)

func main() {
	client, err := connect(context.Background())
	if err != nil {
		load.Exit(err)
	}
	load.Run(cache{client}, load.Version("gomemcache", "github.com/bradfitz/gomemcache"))
}

func connect(ctx context.Context) (*memcache.Client, error) {
	servers := load.Servers()
	if os.Getenv("CLIENT") == "new" {
		return New(servers), nil
	}
	client, err := Follow(ctx, servers)
	if err != nil || os.Getenv("CA") == "" {
		return client, err
	}
	authority, err := os.ReadFile(os.Getenv("CA"))
	if err != nil {
		return nil, err
	}
	config := &tls.Config{RootCAs: x509.NewCertPool(), ServerName: os.Getenv("SERVER_NAME")}
	if !config.RootCAs.AppendCertsFromPEM(authority) {
		return nil, errors.New("the file of the CA has no certificate")
	}
	Secure(client, config, os.Getenv("USERNAME"), os.Getenv("PASSWORD"))
	return client, nil
}

type cache struct{ client *memcache.Client }

func (c cache) Get(key string) ([]byte, error) {
	item, err := c.client.Get(key)
	switch {
	case errors.Is(err, memcache.ErrCacheMiss):
		return nil, load.ErrMiss
	case err != nil:
		return nil, err
	}
	return item.Value, nil
}

func (c cache) Set(key, value string) error {
	expiration := int32(load.Expiry / time.Second)
	return c.client.Set(&memcache.Item{Key: key, Value: []byte(value), Expiration: expiration})
}
