package main

import (
	"context"
	"flag"

	"github.com/go-kit/log"
	dskit "github.com/grafana/dskit/cache"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/example-inc/memcached-operator/test/clients/load"
	"github.com/example-inc/memcached-operator/test/clients/recipes"
)

// mimir is Mimir's client. Its GetMulti returns a failed fetch as a miss, as Thanos' client does. Its additional
// methods GetMultiWithError and Set return the error.
type mimir struct{ cache dskit.Cache }

func newMimir(recipe []byte, servers []string) (load.Cache, error) {
	var config dskit.BackendConfig
	config.Memcached.RegisterFlagsWithPrefix("", flag.NewFlagSet("", flag.ContinueOnError)) // Mimir's defaults.
	if err := recipes.Decode(recipe, &config, "blocks_storage", "bucket_store", "index_cache"); err != nil {
		return nil, err
	}
	config.Memcached.Addresses = servers
	client, err := dskit.CreateClient("index-cache", config, log.NewNopLogger(), prometheus.NewRegistry())
	return mimir{client}, err
}

func (m mimir) Get(key string) ([]byte, error) {
	values, err := m.cache.GetMultiWithError(context.Background(), []string{key})
	if err != nil {
		return nil, err
	}
	value, found := values[key]
	if !found {
		return nil, load.ErrMiss
	}
	return value, nil
}

func (m mimir) Set(key, value string) error {
	return m.cache.Set(context.Background(), key, []byte(value), load.Expiry)
}
