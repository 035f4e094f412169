// Package chain brings the operator into a cluster the way its users do: images go into a registry, manifests
// into Git, the root Application is applied once, and Argo CD does the rest. The demo and the end-to-end tests
// stand on it.
package chain

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

// Chain is a cluster with the Git repository that Argo CD follows.
type Chain struct {
	Cluster *local.Cluster
	Client  client.WithWatch
	Git     *Repository

	// Root is the root of the working tree.
	Root string
}

// New opens the chain of a running cluster.
func New(ctx context.Context, cluster *local.Cluster) (*Chain, error) {
	log.SetLogger(logr.Discard()) // The client would else complain that it has nowhere to log.
	config, err := cluster.RESTConfig()
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), cachev1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	root, err := builds.Root()
	if err != nil {
		return nil, err
	}
	git, err := openRepository(ctx, cluster.Git, filepath.Join(filepath.Dir(cluster.Kubeconfig), "worktree"))
	if err != nil {
		return nil, fmt.Errorf("open the Git repository %s: %w", cluster.Git, err)
	}
	return &Chain{Cluster: cluster, Client: c, Git: git, Root: root}, nil
}

// Images are what a cluster runs, by digest.
type Images struct {
	Operator, Agent, Memcached, Client string
}

// PushImages builds all images of the working tree and pushes them. Update is told which it is at.
func (c *Chain) PushImages(ctx context.Context, version string, update func(string)) (images Images, err error) {
	update("operator")
	if images.Operator, err = c.PushOperator(ctx, version); err != nil {
		return images, err
	}
	update("agent")
	if images.Agent, err = c.pushAgent(ctx); err != nil {
		return images, err
	}
	update("memcached")
	if images.Memcached, err = c.pushMemcached(ctx); err != nil {
		return images, err
	}
	update("client")
	images.Client, err = c.PushProgram(ctx, "client", "dev", oci.Program{Dir: c.Root, Package: "./test/client"})
	return images, err
}

// PushOperator builds the operator's image of the working tree and pushes it. The reference it returns is by
// digest, and the same as long as the code and the version are.
func (c *Chain) PushOperator(ctx context.Context, version string) (string, error) {
	return c.PushProgram(ctx, "memcached-operator", version, oci.Operator(c.Root, version))
}

// pushAgent builds the agent's image of the working tree and pushes it, by its own version.
func (c *Chain) pushAgent(ctx context.Context) (string, error) {
	program, version, err := oci.Agent(c.Root)
	if err != nil {
		return "", err
	}
	return c.PushProgram(ctx, "memcached-agent", version, program)
}

// PushProgram builds a program's image and pushes it.
func (c *Chain) PushProgram(ctx context.Context, name, tag string, program oci.Program) (string, error) {
	image, err := program.Build(ctx)
	if err != nil {
		return "", err
	}
	return oci.Push(ctx, image, c.Cluster.Image(name, tag))
}

// pushMemcached makes an image of the distribution's memcached and pushes it.
func (c *Chain) pushMemcached(ctx context.Context) (string, error) {
	image, version, err := oci.Memcached(ctx)
	if err != nil {
		return "", err
	}
	return oci.Push(ctx, image, c.Cluster.Image("memcached", version))
}

// Publish pushes the manifests of the working tree to Git, with the settings of this cluster.
func (c *Chain) Publish(ctx context.Context, message string, images Images) (string, error) {
	return c.Git.Publish(ctx, c.Root, message, func(dir string) error {
		return values.Edit(dir, func(s *values.Settings) {
			s.RepoURL, s.Revision, s.ArgoCDNamespace = c.Git.URL, Branch, argoNamespace
			s.Architecture = oci.Host().Architecture
			s.OperatorImage, s.AgentImage, s.MemcachedImage = images.Operator, images.Agent, images.Memcached
		})
	})
}
