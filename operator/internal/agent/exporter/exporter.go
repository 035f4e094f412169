// Package exporter tells Prometheus what memcached counts, under the names of the official memcached_exporter. It logs
// in where memcached asks for a password.
package exporter

import (
	"context"
	"crypto/x509"
	"log/slog"
	"sync"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
)

// timeout is how long a scrape may take. Prometheus gives up after 10 seconds.
const timeout = 5 * time.Second

// Exporter collects metrics from memcached. It keeps its connection: so it can still tell that no connection is left
// for others.
type Exporter struct {
	// Login connects to memcached, with a password where it asks for one.
	Login func(context.Context) (*protocol.Client, error)

	// Served asks for the certificate that memcached serves; nil if it serves none.
	Served func(context.Context) (*x509.Certificate, error)

	// SlabClasses has it tell of each slab class. There are up to 63, and 36 series for each.
	SlabClasses bool

	Log *slog.Logger

	mutex   sync.Mutex
	client  *protocol.Client
	reason  string // why memcached is down, as it was logged
	evicted evictions
}

// Collect asks memcached. What goes wrong is told by memcached_up.
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

// ask uses the connection that is there. Memcached may have closed it since, so that a second try uses a new one.
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

// Close ends the connection.
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

// log tells each reason once.
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
