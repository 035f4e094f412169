// Package commands has the commands of kubectl memcached.
package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/access"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/reach"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/screen"
)

// plugin is what all commands share.
type plugin struct {
	genericiooptions.IOStreams

	flags  *genericclioptions.ConfigFlags
	screen screen.Screen

	// timeout limits each request to the API server, if it is set.
	timeout time.Duration

	// patience watches all requests of the command to the API server.
	patience *access.Patience

	// dialer connects to Pods of the cluster of a configuration.
	dialer func(*rest.Config) reach.Dialer
}

// New returns the root command.
func New(streams genericiooptions.IOStreams, version string) *cobra.Command {
	return newRoot(streams, version, func(config *rest.Config) reach.Dialer { return reach.Forward{Config: config} })
}

func newRoot(
	streams genericiooptions.IOStreams, version string, dialer func(*rest.Config) reach.Dialer,
) *cobra.Command {
	p := &plugin{
		IOStreams: streams, flags: genericclioptions.NewConfigFlags(true), screen: screen.New(streams.Out), dialer: dialer,
	}
	p.flags.WithWarningPrinter(streams)
	root := &cobra.Command{
		Use:     "kubectl-memcached",
		Short:   "Show and operate the caches of the memcached operator",
		Long:    "Shows and operates the caches of the memcached operator, with your own rights.",
		Version: version,
		Example: "  kubectl memcached status -A\n  kubectl memcached why sessions -n team",
		Annotations: map[string]string{
			cobra.CommandDisplayNameAnnotation: "kubectl memcached",
		},
		SilenceErrors: true, SilenceUsage: true,
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	p.flags.AddFlags(root.PersistentFlags())
	root.AddCommand(newStatus(p), newWhy(p), newDiff(p), newOwner(p), newGet(p), newTop(p),
		newSlabs(p), newSizes(p), newHotKeys(p), newEstimate(p), newFlush(p),
		newPause(p), newResume(p), newRestart(p),
		newUpdate(p), newCutover(p), newReport(p, version), newImport(p))
	p.completeFlags(root)
	p.help(root)
	return root
}

// requestsPerSecond and requestsAtFirst limit the requests, as kubectl does. client-go's default of 5 is for programs
// that run all day.
const requestsPerSecond, requestsAtFirst = 50, 300

// patience is how long a user waits before the command prints what it waits for.
const patience = 2 * time.Second

// connect returns the cluster with the rights of the user, and the namespace that the flags or the kubeconfig choose.
func (p *plugin) connect() (access.Cluster, string, error) {
	namespace, _, err := p.flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return access.Cluster{}, "", err
	}
	config, err := p.config()
	if err != nil {
		return access.Cluster{}, "", err
	}
	if p.timeout > 0 && config.Timeout == 0 {
		config.Timeout = p.timeout
	}
	cluster, err := access.New(config)
	return cluster, namespace, err
}

// config returns how to connect to the API server. At a terminal, the user sees a message when the API server is slow.
func (p *plugin) config() (*rest.Config, error) {
	config, err := p.flags.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = requestsPerSecond, requestsAtFirst
	if p.patience == nil {
		p.patience = &access.Patience{Out: p.ErrOut, Host: config.Host, After: patience}
	}
	if screen.New(p.ErrOut).Terminal {
		p.patience.Watch(config)
	}
	return config, nil
}

// list reads the Memcacheds of the namespace, or of all namespaces.
func (p *plugin) list(ctx context.Context, all bool) ([]cachev1.Memcached, error) {
	cluster, namespace, err := p.connect()
	if err != nil {
		return nil, err
	}
	if all {
		namespace = ""
	}
	caches := &cachev1.MemcachedList{}
	err = cluster.List(ctx, caches, client.InNamespace(namespace))
	switch {
	case all && apierrors.IsForbidden(err):
		return nil, fmt.Errorf("list Memcacheds of all namespaces: %w; -n NAMESPACE instead of -A shows the Memcacheds "+
			"of one namespace", err)
	case err != nil:
		return nil, fmt.Errorf("list Memcacheds: %w", err)
	}
	return caches.Items, nil
}

// oneName requires the name of a Memcached.
func oneName(_ *cobra.Command, arguments []string) error {
	switch len(arguments) {
	case 1:
		return bare(arguments[0])
	case 0:
		return errors.New("NAME is missing: name a Memcached, such as one that kubectl memcached status lists")
	}
	return fmt.Errorf("%q are more names than one: name one Memcached", arguments)
}

// bare refuses a name with a namespace or a kind before it, such as team/shop. Users may copy such a name, because the
// output of commands has names with a namespace, and kubectl accepts names with a kind.
func bare(argument string) error {
	before, name, found := strings.Cut(argument, "/")
	switch {
	case !found:
		return nil
	case strings.HasPrefix(before, "memcached"):
		return fmt.Errorf("%q is no name: write %s alone", argument, name)
	}
	return fmt.Errorf("%q is no name: write %s -n %s", argument, name, before)
}
