package main

import (
	"context"
	"errors"

	"github.com/go-kit/log"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/thanos-io/thanos/pkg/cacheutil"
	"gopkg.in/yaml.v3"

	"github.com/example-inc/memcached-operator/test/clients/load"
)

// thanos is Thanos' client. It returns a failed fetch as a miss. Only the client's metrics show that the fetch failed.
type thanos struct {
	client  cacheutil.RemoteCacheClient
	metrics *prometheus.Registry
	failed  float64 // fetches so far
}

func newThanos(recipe []byte, servers []string) (load.Cache, error) {
	var file struct{ Config map[string]any }
	if err := yaml.Unmarshal(recipe, &file); err != nil {
		return nil, err
	}
	file.Config["addresses"] = servers
	config, err := yaml.Marshal(file.Config)
	if err != nil {
		return nil, err
	}
	metrics := prometheus.NewRegistry()
	client, err := cacheutil.NewMemcachedClient(log.NewNopLogger(), "index-cache", config, metrics)
	if err != nil {
		return nil, err
	}
	return &thanos{client: client, metrics: metrics}, nil
}

func (t *thanos) Get(key string) ([]byte, error) {
	value, found := t.client.GetMulti(context.Background(), []string{key})[key]
	if found {
		return value, nil
	}
	before := t.failed
	if err := t.count(); err != nil {
		return nil, err
	}
	if t.failed > before {
		return nil, errors.New("thanos_memcached_operation_failures_total has grown")
	}
	return nil, load.ErrMiss
}

// count reads from the client's metrics how many fetches failed.
func (t *thanos) count() error {
	families, err := t.metrics.Gather()
	t.failed = 0
	for _, family := range families {
		if family.GetName() != "thanos_memcached_operation_failures_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "operation" && label.GetValue() == "getmulti" {
					t.failed += metric.GetCounter().GetValue()
				}
			}
		}
	}
	return err
}

// Set returns before the value is stored. If storing it fails, a later Get misses the key.
func (t *thanos) Set(key, value string) error {
	return t.client.SetAsync(key, []byte(value), load.Expiry)
}
