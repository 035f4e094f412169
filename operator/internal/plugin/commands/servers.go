package commands

// How commands reach memcached servers.

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/access"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/reach"
)

// reachOptions are the options of all commands that connect to memcached servers.
type reachOptions struct {
	files   reach.Files
	timeout time.Duration
}

func (o *reachOptions) addFlags(command *cobra.Command) {
	const defaultTimeout = 10 * time.Second
	flags := command.Flags()
	flags.DurationVar(&o.timeout, "timeout", defaultTimeout,
		"How long the API server and each memcached server may take to be connected to, and to answer.")
	flags.StringVar(&o.files.CA, reach.FlagCA, "",
		"File with the CAs of the servers, in PEM. Defaults to those of the Secret of spec.binding or spec.tls.")
	flags.StringVar(&o.files.Certificate, reach.FlagCertificate, "",
		"File with a client certificate, in PEM. Defaults to that of the Secret of spec.tls.")
	flags.StringVar(&o.files.Key, reach.FlagKey, "", "File with the key of the client certificate, in PEM.")
	flags.StringVar(&o.files.Users, reach.FlagUsers, "",
		"File with a line user:password. Defaults to the Secret of spec.binding or spec.auth.")
}

func (o *reachOptions) check() error {
	if o.timeout <= 0 {
		return fmt.Errorf("--timeout %s is no time: write one such as 10s", o.timeout)
	}
	return o.files.Check()
}

// reached is a cache, with what is needed to send commands to its servers.
type reached struct {
	*reach.Cache

	cluster access.Cluster
	mc      *cachev1.Memcached
	servers []reach.Server
}

// reach reads everything that is needed to connect to the servers of a Memcached or, without a name, of the only
// Memcached in the namespace. It does not connect yet.
func (p *plugin) reach(ctx context.Context, name string, options reachOptions) (*reached, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	p.timeout = options.timeout
	mc, err := p.cacheOf(ctx, name)
	if err != nil {
		return nil, err
	}
	cluster, _, err := p.connect()
	if err != nil {
		return nil, err
	}
	config, err := p.config()
	if err != nil {
		return nil, err
	}
	credentials, err := reach.CredentialsOf(ctx, cluster, mc, options.files)
	if err != nil {
		return nil, err
	}
	r := &reached{
		Cache:   &reach.Cache{Dialer: p.dialer(config), Credentials: credentials, Timeout: options.timeout},
		cluster: cluster, mc: mc,
	}
	return r, r.find(ctx)
}

// find reads the Pods again.
func (r *reached) find(ctx context.Context) error {
	pods, err := r.cluster.PodsOf(ctx, client.ObjectKeyFromObject(r.mc))
	if err != nil {
		return fmt.Errorf("list the Pods of Memcached %s/%s: %w", r.mc.Namespace, r.mc.Name, err)
	}
	servers := reach.ServersOf(r.mc, pods)
	if len(servers) == 0 {
		return fmt.Errorf("no Pod of Memcached %s/%s runs: see kubectl memcached why %s -n %s",
			r.mc.Namespace, r.mc.Name, r.mc.Name, r.mc.Namespace)
	}
	r.servers = servers
	return nil
}

// refresh reads the Memcached and its Pods again: slots move, and Pods are replaced.
func (r *reached) refresh(ctx context.Context) error {
	mc, err := r.cluster.Memcached(ctx, client.ObjectKeyFromObject(r.mc))
	if err != nil {
		return err
	}
	r.mc = mc
	return r.find(ctx)
}

// failed returns an error if no server has answered. Otherwise, errors are shown among the answers.
func failed[T any](answers []reach.Answer[T]) error {
	for i := range answers {
		if answers[i].Err == nil {
			return nil
		}
	}
	return fmt.Errorf("no server answers; Pod %s: %w", answers[0].Pod, answers[0].Err)
}
