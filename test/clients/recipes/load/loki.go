package main

import (
	"context"
	"flag"
	"strings"

	"github.com/go-kit/log"
	"github.com/grafana/loki/v3/pkg/logqlmodel/stats"
	lokicache "github.com/grafana/loki/v3/pkg/storage/chunk/cache"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/example-inc/memcached-operator/test/clients/load"
	"github.com/example-inc/memcached-operator/test/clients/recipes"
)

// loki is Loki's client for its cache of chunks. It returns an error if a fetch fails.
type loki struct{ cache lokicache.Cache }

func newLoki(recipe []byte, servers []string) (load.Cache, error) {
	var config lokicache.Config
	config.RegisterFlagsWithPrefix("", "", flag.NewFlagSet("", flag.ContinueOnError)) // Loki's defaults.
	if err := recipes.Decode(recipe, &config, "chunk_store_config", "chunk_cache_config"); err != nil {
		return nil, err
	}
	config.MemcacheClient.Addresses = strings.Join(servers, ",")
	config.DefaultValidity = load.Expiry
	metrics := prometheus.NewRegistry()
	client, err := lokicache.New(config, metrics, log.NewNopLogger(), stats.ChunkCache, "loki")
	return loki{client}, err
}

func (l loki) Get(key string) ([]byte, error) {
	_, values, _, err := l.cache.Fetch(context.Background(), []string{key})
	if err != nil {
		return nil, err
	}
	if len(values) == 0 {
		return nil, load.ErrMiss
	}
	return values[0], nil
}

// Set returns before the value is stored. If storing it fails, a later Get misses the key.
func (l loki) Set(key, value string) error {
	return l.cache.Store(context.Background(), []string{key}, [][]byte{[]byte(value)})
}
