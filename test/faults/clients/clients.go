// Package clients are memcached clients that use each Pod of a namespace, and record what they wrote and read. No two
// clients write the same key, so the record says exactly which value a read may return.
package clients

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/consistency"
)

// Dial connects to an address in the network of the Pods.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

const (
	// keys is how many keys are stored on each server.
	keys = 20

	// pace is how long a client pauses between two requests to the same server.
	pace = 10 * time.Millisecond

	// retry is how long a client pauses after an error.
	retry = 250 * time.Millisecond

	// refresh is how often the Pods are listed.
	refresh = 250 * time.Millisecond

	// timeout is the timeout of a request.
	timeout = time.Second

	port = "11211" // The plaintext port. In a cache without it, the requests are recorded as errors.
)

// Clients use the servers of a namespace until their context ends.
type Clients struct {
	Kube      client.Reader
	Dial      Dial
	Namespace string
	Record    func(consistency.Access)
}

// Run runs one client for each running Pod. It returns when all clients have stopped.
func (c Clients) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	known := map[string]bool{} // by address, because two Pods may have the same address, one after the other
	for ctx.Err() == nil {
		pods := &corev1.PodList{}
		_ = c.Kube.List(ctx, pods, client.InNamespace(c.Namespace), client.MatchingLabels{"app": "memcached"})
		for _, pod := range pods.Items {
			if ip := pod.Status.PodIP; ip != "" && !known[ip] {
				known[ip] = true
				running.Go(func() { c.use(ctx, net.JoinHostPort(ip, port)) })
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(refresh):
		}
	}
}

// use alternately writes and reads the keys of a server.
func (c Clients) use(ctx context.Context, server string) {
	connection := memcache.New(server)
	connection.Timeout, connection.DialContext = timeout, c.Dial
	defer connection.Close()
	for version := 1; ctx.Err() == nil; version++ {
		key := fmt.Sprintf("key-%d", version%keys)
		value := fmt.Sprintf("%s of %s: version %d", key, server, version)
		write := consistency.Access{Key: key + " of " + server, Writes: true, Value: value}
		c.access(write, func(*consistency.Access) error {
			return connection.Set(&memcache.Item{Key: key, Value: []byte(value)})
		})
		other := fmt.Sprintf("key-%d", version*7%keys)
		c.access(consistency.Access{Key: other + " of " + server}, func(read *consistency.Access) error {
			item, err := connection.Get(other)
			if errors.Is(err, memcache.ErrCacheMiss) {
				return nil
			}
			if err == nil {
				read.Value = string(item.Value)
			}
			return err
		})
		time.Sleep(pace)
	}
}

// access sends a request, and records it with its result.
func (c Clients) access(a consistency.Access, request func(*consistency.Access) error) {
	a.Began = time.Now()
	err := request(&a)
	a.Ended = time.Now()
	if err != nil {
		a.Error = err.Error()
		time.Sleep(retry)
	}
	c.Record(a)
}
