// Package exporter exports memcached's statistics to Prometheus, under the names of the official memcached_exporter.
// It logs in if memcached requires a password.
package exporter

import (
	"context"
	"crypto/x509"
	"log/slog"
	"sync"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
)

// timeout limits a scrape. Prometheus' own default is 10 seconds.
const timeout = 5 * time.Second

// Exporter collects metrics from memcached. It keeps its connection, so it works even when memcached accepts no more
// connections.
type Exporter struct {
	// Login connects to memcached, with a password if it requires one.
	Login func(context.Context) (*protocol.Client, error)

	// Served returns the certificate that memcached serves; nil if it serves none.
	Served func(context.Context) (*x509.Certificate, error)

	// SlabClasses is whether each slab class is exported. There are up to 63 classes, with 36 series each.
	SlabClasses bool

	Log *slog.Logger

	mutex   sync.Mutex
	client  *protocol.Client
	reason  string // why memcached is down, as it was last logged
	evicted evictions
}

// Collect collects the samples. If memcached cannot be read, memcached_up is 0.
func (e *Exporter) Collect(ctx context.Context) []Sample {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	got, err := e.ask(ctx)
	e.log(err)
	samples := []Sample{{Metric: up}}
	if err == nil {
		samples[0].Value = 1
		samples = append(samples, got.samples(e.SlabClasses, &e.evicted)...)
	}
	if e.Served == nil {
		return samples
	}
	if served, err := e.Served(ctx); err == nil {
		samples = append(samples, Sample{Metric: certificateEnd, Value: float64(served.NotAfter.Unix())})
	}
	return samples
}

// ask reads memcached's statistics over the open connection. Memcached may have closed that connection, so a second
// attempt uses a new one.
func (e *Exporter) ask(ctx context.Context) (answers, error) {
	if e.client != nil {
		if got, err := readAnswers(ctx, e.client); err == nil {
			return got, nil
		}
		e.disconnect()
	}
	client, err := e.Login(ctx)
	if err != nil {
		return answers{}, err
	}
	got, err := readAnswers(ctx, client)
	if err != nil {
		_ = client.Close()
		return answers{}, err
	}
	e.client = client
	return got, nil
}

// Close closes the connection.
func (e *Exporter) Close() {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.disconnect()
}

func (e *Exporter) disconnect() {
	if e.client != nil {
		_ = e.client.Close()
		e.client = nil
	}
}

// log logs why memcached did not return its metrics, but not the same reason twice in a row.
func (e *Exporter) log(err error) {
	reason := ""
	if err != nil {
		reason = err.Error()
	}
	if reason != "" && reason != e.reason {
		e.Log.Info("Memcached did not return its metrics", "reason", reason)
	}
	e.reason = reason
}
