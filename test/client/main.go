// Command client is a memcached client that works like an application. It asks DNS for the Pods behind a headless
// Service, and hashes its keys over them. The demo and the end-to-end tests run it in a Pod.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/wait"
)

// Result is what the client prints, as JSON.
type Result struct {
	// Nodes are the addresses of the Pods to which the name resolved, sorted.
	Nodes []string `json:"nodes"`

	// Stored is how many keys were set.
	Stored int `json:"stored,omitempty"`

	// Found is how many keys were read where hashing expects them, with the right value.
	Found int `json:"found,omitempty"`

	// Copies is how many of the found keys are on more than one Pod.
	Copies int `json:"copies,omitempty"`

	// Held is the number of connections of a holding client, and Missed counts the reads over them that did not find the
	// key.
	Held   int `json:"held,omitempty"`
	Missed int `json:"missed,omitempty"`

	// Requests counts the requests of a watching or holding client, and Failed counts those that were not answered. A miss
	// is an answer. Once a connection of a holding client is closed, all its later requests over this connection fail.
	Requests int `json:"requests,omitempty"`
	Failed   int `json:"failed,omitempty"`

	// PerSecond is how many requests a second a loading client made. P50 and P99 are the times from its requests to their
	// answers, in microseconds.
	PerSecond float64 `json:"perSecond,omitempty"`
	P50       float64 `json:"p50,omitempty"`
	P99       float64 `json:"p99,omitempty"`

	// Failures are the first few errors.
	Failures []string `json:"failures,omitempty"`
}

func main() {
	if err := command().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// options are the flags of every verb.
type options struct {
	endpoint    string
	keys, nodes int
	timeout     time.Duration
	access      access
}

func command() *cobra.Command {
	var o options
	root := &cobra.Command{
		Use:   "client",
		Short: "Set and get keys, hashed over the Pods of a cache",
		Example: "  client set --endpoint cache.team.svc:11211 --keys 200\n" +
			"  client get --endpoint cache.team.svc:11212 --keys 200 --tls --ca ca.crt --user shop --password-file password\n" +
			"  client get --endpoint cache-0.cache-slots.team.svc:11211,cache-1.cache-slots.team.svc:11211\n" +
			"  client watch --endpoint cache.team.svc:11211 --for 60s\n" +
			"  client hold --endpoint cache.team.svc:11211 --for 10m\n" +
			"  client load --endpoint 10.244.0.7:11211 --for 10s --connections 8",
		SilenceUsage: true, SilenceErrors: true,
		PersistentPreRunE: func(*cobra.Command, []string) error { return o.validate() },
	}
	flags := root.PersistentFlags()
	flags.StringVar(&o.endpoint, "endpoint", "", "host and port, as in the status of a Memcached; or those of all slots")
	flags.IntVar(&o.keys, "keys", 200, "how many keys")
	flags.IntVar(&o.nodes, "nodes", 1, "number of Pods that DNS must list before the client begins")
	flags.DurationVar(&o.timeout, "timeout", patience,
		"how long set, get, hold and release wait for a connection or an answer, as they may share a busy machine")
	o.access.addFlags(flags)
	root.AddCommand(watchCommand(&o), holdCommand(&o), loadCommand(&o), judgeCommand(&o))
	for name, work := range map[string]func(ring, int) (Result, error){"set": set, "get": get, "release": release} {
		root.AddCommand(&cobra.Command{
			Use: name, Args: cobra.NoArgs,
			RunE: o.run(func(_ context.Context, r ring) (Result, error) { return work(r, o.keys) }),
		})
	}
	return root
}

func (o *options) validate() error {
	var host string
	for _, endpoint := range o.endpoints() {
		var err error
		if host, _, err = net.SplitHostPort(endpoint); err != nil {
			return fmt.Errorf("--endpoint %q: want host:port: %w", endpoint, err)
		}
	}
	if err := o.access.validate(); err != nil {
		return err
	}
	if o.access.serverName == "" {
		o.access.serverName = host
	}
	return nil
}

// endpoints returns one endpoint for all Pods, or one for each slot, in the order of the slots.
func (o *options) endpoints() []string { return strings.Split(o.endpoint, ",") }

// run waits until DNS lists all Pods, calls work with them, and prints the result.
func (o *options) run(work func(context.Context, ring) (Result, error)) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		r, err := o.resolveAll(cmd.Context())
		if err != nil {
			return err
		}
		defer r.close()
		result, err := work(cmd.Context(), r)
		if err != nil {
			return err
		}
		return json.NewEncoder(cmd.OutOrStdout()).Encode(result)
	}
}

// ring is a cache as a client sees it.
type ring struct {
	nodes []string

	// hashed is a client that spreads keys over all Pods. single has a client for each Pod.
	hashed *memcache.Client
	single []*memcache.Client
}

const (
	// patience is how long DNS may take to list the Pods that are ready. It is also how long a Pod may take to answer a
	// command that does not measure.
	patience = 2 * time.Minute

	// prompt is how long the commands that measure wait for an answer. After that time, the request has failed.
	prompt = 2 * time.Second
)

// resolveAll waits until DNS lists the expected number of Pods. A Pod is ready a moment before DNS lists it, and with
// another number of Pods, keys are expected on other Pods.
func (o *options) resolveAll(ctx context.Context) (r ring, err error) {
	waitErr := wait.PollUntilContextTimeout(ctx, refresh/4, patience, true, func(ctx context.Context) (bool, error) {
		if r, err = o.resolve(ctx, o.timeout); err == nil && len(r.nodes) < o.nodes {
			err = fmt.Errorf("%s names %d of %d nodes", o.endpoint, len(r.nodes), o.nodes)
			r.close()
		}
		return err == nil, nil
	})
	return r, errors.Join(waitErr, err)
}

// resolve asks DNS for the Pods behind the endpoint, or for the Pod of each slot. The order of the Pods decides on
// which of them a key is, so all clients must use the same order.
func (o *options) resolve(ctx context.Context, timeout time.Duration) (ring, error) {
	var r ring
	for _, endpoint := range o.endpoints() {
		host, port, err := net.SplitHostPort(endpoint)
		if err != nil {
			return ring{}, err
		}
		addresses, err := net.DefaultResolver.LookupHost(ctx, host)
		if err != nil {
			return ring{}, err
		}
		slices.Sort(addresses)
		for _, address := range addresses {
			r.nodes = append(r.nodes, net.JoinHostPort(address, port))
		}
	}
	for _, node := range r.nodes {
		r.single = append(r.single, newClient(o.access.dial, timeout, node))
	}
	r.hashed = newClient(o.access.dial, timeout, r.nodes...)
	return r, nil
}

func (r ring) close() {
	_ = r.hashed.Close()
	for _, node := range r.single {
		_ = node.Close()
	}
}

type dialer func(ctx context.Context, network, address string) (net.Conn, error)

func newClient(dial dialer, timeout time.Duration, nodes ...string) *memcache.Client {
	client := memcache.New(nodes...)
	client.Timeout, client.DialContext = timeout, dial
	return client
}

func key(i int) string   { return fmt.Sprintf("key-%d", i) }
func value(i int) string { return fmt.Sprintf("value of key %d", i) }

func set(r ring, keys int) (Result, error) {
	for i := range keys {
		if err := r.hashed.Set(&memcache.Item{Key: key(i), Value: []byte(value(i))}); err != nil {
			return Result{}, fmt.Errorf("set %s: %w", key(i), err)
		}
	}
	return Result{Nodes: r.nodes, Stored: keys}, nil
}

func get(r ring, keys int) (Result, error) {
	result := Result{Nodes: r.nodes}
	for i := range keys {
		item, err := r.hashed.Get(key(i))
		if errors.Is(err, memcache.ErrCacheMiss) {
			continue
		}
		if err != nil {
			return Result{}, fmt.Errorf("get %s: %w", key(i), err)
		}
		if string(item.Value) == value(i) {
			result.Found++
		}
		nodes, err := r.holding(key(i))
		if err != nil {
			return Result{}, err
		}
		if nodes > 1 {
			result.Copies++
		}
	}
	return result, nil
}

// holding counts the Pods that have a key.
func (r ring) holding(key string) (int, error) {
	nodes := 0
	for i, node := range r.single {
		switch _, err := node.Get(key); {
		case err == nil:
			nodes++
		case !errors.Is(err, memcache.ErrCacheMiss):
			return 0, fmt.Errorf("get %s from %s: %w", key, r.nodes[i], err)
		}
	}
	return nodes, nil
}
