// Package reach connects to the memcached servers in the Pods of a cache, with the rights of the user.
package reach

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// The numbers of servers that are asked at the same time. Each server needs a connection through the API server.
const (
	parallel = 8

	// parallelWatches is for questions that observe a server for some time: all servers should be observed at the same
	// time.
	parallelWatches = 32
)

// Dialer connects to ports of Pods.
type Dialer interface {
	Dial(ctx context.Context, pod *corev1.Pod, port int32) (net.Conn, error)
}

// Server is the memcached server in a Pod.
type Server struct {
	Slot        string `json:"slot,omitempty"` // empty without slots
	Pod         string `json:"pod"`
	Terminating bool   `json:"terminating,omitempty"`

	pod *corev1.Pod
}

// ServersOf returns the running servers of a cache: first those with slots, in their order.
func ServersOf(mc *cachev1.Memcached, pods []corev1.Pod) []Server {
	running := map[string]*corev1.Pod{}
	for i := range pods {
		if pods[i].Status.Phase == corev1.PodRunning {
			running[pods[i].Name] = &pods[i]
		}
	}
	var servers []Server
	for i := range mc.Status.Slots {
		slot := &mc.Status.Slots[i]
		if pod := running[slot.Pod]; pod != nil {
			servers = append(servers, serverOf(pod, slot.Name))
			delete(running, slot.Pod)
		}
	}
	for i := range pods {
		if pod := running[pods[i].Name]; pod != nil {
			servers = append(servers, serverOf(pod, ""))
		}
	}
	return servers
}

func serverOf(pod *corev1.Pod, slot string) Server {
	return Server{Slot: slot, Pod: pod.Name, Terminating: !pod.DeletionTimestamp.IsZero(), pod: pod}
}

// Connection is a connection to a memcached server, logged in.
type Connection struct {
	net.Conn

	Client *protocol.Client
}

// Cache connects to the servers of a cache. Each server has one connection, which is kept until Close.
type Cache struct {
	Dialer      Dialer
	Credentials Credentials

	// Timeout limits how long a server may take: to connect and log in, and for each answer.
	Timeout time.Duration

	mutex       sync.Mutex
	connections map[string]*Connection // by Pod
}

// Close closes all connections.
func (c *Cache) Close() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, connection := range c.connections {
		_ = connection.Close()
	}
	c.connections = nil
}

// Answer is what a server answered, or why it did not.
type Answer[T any] struct {
	Server

	Value T
	Err   error
}

// All asks servers, several of them at the same time. Each server may take the Timeout and, in addition, the time that
// the question always needs (takes).
func All[T any](
	ctx context.Context, cache *Cache, servers []Server, takes time.Duration,
	ask func(context.Context, *Connection) (T, error),
) []Answer[T] {
	answers := make([]Answer[T], len(servers))
	var group errgroup.Group
	group.SetLimit(parallel)
	if takes > 0 {
		group.SetLimit(parallelWatches)
	}
	for i, server := range servers {
		group.Go(func() error {
			value, err := one(ctx, cache, server, takes, ask)
			answers[i] = Answer[T]{server, value, err}
			return nil
		})
	}
	_ = group.Wait() // Errors are among the answers.
	return answers
}

func one[T any](
	ctx context.Context, cache *Cache, server Server, takes time.Duration,
	ask func(context.Context, *Connection) (T, error),
) (value T, err error) {
	connection, err := cache.connection(ctx, server)
	if err != nil {
		return value, err
	}
	limited, cancel := context.WithTimeout(ctx, cache.Timeout+takes)
	defer cancel()
	stop := context.AfterFunc(limited, func() { _ = connection.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if value, err = ask(limited, connection); err != nil {
		cache.drop(server)
		if limited.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("no answer within %s: raise --timeout (%w)", cache.Timeout+takes, err)
		}
	}
	return value, err
}

// drop closes a connection whose state is unknown.
func (c *Cache) drop(server Server) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if connection := c.connections[server.Pod]; connection != nil {
		_ = connection.Close()
	}
	delete(c.connections, server.Pod)
}

// connection returns the connection to a server, and opens it if there is none.
func (c *Cache) connection(ctx context.Context, server Server) (*Connection, error) {
	c.mutex.Lock()
	found := c.connections[server.Pod]
	c.mutex.Unlock()
	if found != nil {
		return found, nil
	}
	opened, err := c.connect(ctx, server)
	if err != nil {
		return nil, err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.connections == nil {
		c.connections = map[string]*Connection{}
	}
	c.connections[server.Pod] = opened
	return opened, nil
}

func (c *Cache) connect(ctx context.Context, server Server) (*Connection, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	port, encrypted := portOf(server.pod)
	connection, err := c.Dialer.Dial(ctx, server.pod, port)
	if err != nil {
		return nil, err
	}
	if encrypted {
		if c.Credentials.TLS == nil {
			return nil, errors.Join(connection.Close(), errors.New(
				"memcached in this Pod still requires TLS, but spec.tls is not set any more: try again after the rollout"))
		}
		if connection, err = protocol.Secure(ctx, connection, c.Credentials.TLS); err != nil {
			return nil, fmt.Errorf("TLS handshake: %w", err)
		}
	}
	client := protocol.New(connection).Within(c.Timeout)
	if err := c.logIn(ctx, client); err != nil {
		return nil, errors.Join(err, connection.Close())
	}
	return &Connection{Conn: connection, Client: client}, nil
}

// logIn tries all users, because memcached may not know all of them yet while they are rotated.
func (c *Cache) logIn(ctx context.Context, client *protocol.Client) (err error) {
	for _, user := range c.Credentials.Users {
		if err = client.Authenticate(ctx, user.Name, user.Password); !errors.Is(err, protocol.ErrRefused) {
			return err
		}
	}
	return err
}

// portOf returns the port of a Pod for clients, and whether it requires TLS.
func portOf(pod *corev1.Pod) (port int32, encrypted bool) {
	for i := range pod.Spec.Containers {
		for _, open := range pod.Spec.Containers[i].Ports {
			if open.Name == names.TLSPort {
				return open.ContainerPort, true
			}
		}
	}
	return names.PortNumber, false
}
