package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/cluster/preflight"
	"github.com/example-inc/memcached-operator/scripts/demo/chain"
	"github.com/example-inc/memcached-operator/scripts/demo/clientpod"
	"github.com/example-inc/memcached-operator/scripts/progress"
)

const (
	namespace = "memcached-samples"
	sample    = "memcached-sample"

	// patience is how long Argo CD may take for the whole tree.
	patience = 5 * time.Minute
)

// show brings everything up, shows that it works, and says what to try next.
func show(ctx context.Context, out io.Writer, options local.Options) error {
	started := time.Now()
	options.Needs = preflight.Memcached()
	cluster, err := local.Up(ctx, options)
	if err != nil {
		return err
	}
	c, err := chain.New(ctx, cluster)
	if err != nil {
		return err
	}
	images, err := pushImages(ctx, c)
	if err != nil {
		return err
	}
	if err := deliver(ctx, c, images); err != nil {
		return err
	}
	keys, err := storeKeys(ctx, c, images.Client)
	if err != nil {
		return err
	}
	return summarize(ctx, out, c, keys, time.Since(started))
}

func pushImages(ctx context.Context, c *chain.Chain) (chain.Images, error) {
	var images chain.Images
	err := progress.Stage(ctx, "Images", func(update func(string)) (err error) {
		images, err = c.PushImages(ctx, "dev", update)
		return err
	})
	return images, err
}

// deliver pushes the manifests to Git and waits for Argo CD to have brought them into the cluster.
func deliver(ctx context.Context, c *chain.Chain, images chain.Images) error {
	var commit string
	err := progress.Stage(ctx, "Git push", func(func(string)) (err error) {
		commit, err = c.Publish(ctx, "Install the memcached operator", images)
		return err
	})
	if err != nil {
		return err
	}
	err = progress.Stage(ctx, "Root Application", func(func(string)) error { return c.ApplyRoot(ctx) })
	if err != nil {
		return err
	}
	return progress.Stage(ctx, "Argo CD syncs", func(update func(string)) error {
		return c.WaitHealthy(ctx, commit, patience, update,
			chain.OperatorApplication, chain.SamplesApplication, chain.RootApplication)
	})
}

func storeKeys(ctx context.Context, c *chain.Chain, image string) (keys chain.Keys, err error) {
	mc := &cachev1.Memcached{}
	if err := c.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: sample}, mc); err != nil {
		return keys, err
	}
	err = progress.Stage(ctx, "Keys, by two clients in turn", func(func(string)) error {
		for _, verb := range []string{"set", "get"} {
			if keys, err = c.RunClient(ctx, namespace, image, append(clientpod.Reach(mc), verb)...); err != nil {
				return err
			}
		}
		return nil
	})
	return keys, err
}

func summarize(ctx context.Context, out io.Writer, c *chain.Chain, keys chain.Keys, took time.Duration) error {
	fmt.Fprintln(out, "\nApplications:")
	for _, name := range []string{chain.RootApplication, chain.OperatorApplication, chain.SamplesApplication} {
		application, err := c.Application(ctx, name)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "  %-20s %-8s %-10s %.7s\n", name, application.Sync, application.Health, application.Revision)
	}
	kubectl := exec.CommandContext(ctx, c.Cluster.Kubectl, "--kubeconfig", c.Cluster.Kubeconfig,
		"--namespace", namespace, "get", "memcached,deployment,pods")
	listing, err := kubectl.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", kubectl, err, listing)
	}
	mc := &cachev1.Memcached{}
	if err := c.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: sample}, mc); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s\nstatus.nodes: %s\n", listing, strings.Join(mc.Status.Nodes, ", "))
	fmt.Fprintf(out, "A second client found %d keys on %d nodes, %d of them on more than one.\n",
		keys.Found, len(keys.Nodes), keys.Copies)
	fmt.Fprintf(out, "\nAll of it took %s.\n\n%s", progress.Elapsed(took), nextSteps(c))
	return nil
}

// nextSteps are commands to be pasted as they are.
func nextSteps(c *chain.Chain) string {
	file := filepath.Join("gitops", "samples", "kustomization.yaml")
	return fmt.Sprintf(`What to try next:
%[9]s
  export KUBECONFIG=%[1]s
  kubectl() { %[2]s "$@"; }

  # Commit a size of 5, and watch Argo CD and the operator follow:
  cd %[3]s
  sed -i 's/value: 3/value: 5/' %[4]s
  git commit -am 'Five nodes' && git push
  kubectl -n %[5]s get memcached -w

  # Break something, and watch it heal:
  kubectl -n %[5]s delete deployment %[6]s
  kubectl -n %[5]s get deployment,events

  # Take everything down:
  cd %[7]s && go run ./scripts/cluster down --name %[8]s
`, quoted(c.Cluster.Kubeconfig), quoted(c.Cluster.Kubectl), quoted(c.Git.Dir), file, namespace, sample,
		quoted(c.Root), c.Cluster.Name, asRoot())
}

// asRoot begins the commands of a user who came by sudo: the files that they name are root's.
func asRoot() string {
	if os.Getenv("SUDO_USER") == "" {
		return ""
	}
	return `
  sudo env "PATH=$PATH" bash   # the cluster is root's
`
}

var plain = regexp.MustCompile(`^[\w./@:=+-]+$`)

// quoted is a path as a shell takes it, also with a space in it.
func quoted(path string) string {
	if plain.MatchString(path) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
