package current

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/demo/argo"
	"github.com/example-inc/memcached-operator/scripts/demo/check"
	"github.com/example-inc/memcached-operator/scripts/demo/clientpod"
	"github.com/example-inc/memcached-operator/scripts/demo/target"
	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

// sample is the Memcached that comes with the tree.
const sample = "memcached-sample"

// install does what was announced, and shows that it works.
func (d *demo) install(ctx context.Context) error {
	images, err := d.pushImages(ctx)
	if err != nil {
		return err
	}
	var commit string
	err = progress.Stage(ctx, "Git push", func(func(string)) (err error) {
		commit, err = d.publish(ctx, images.Pushed)
		return err
	})
	if err != nil {
		return err
	}
	if err := progress.Stage(ctx, "Root Application", func(func(string)) error { return d.apply(ctx) }); err != nil {
		return err
	}
	err = progress.Stage(ctx, "Argo CD syncs", func(update func(string)) error {
		return d.waitHealthy(ctx, commit, update)
	})
	if err != nil {
		return err
	}
	keys, mc, err := d.storeKeys(ctx, images.client)
	if err != nil {
		return err
	}
	return d.summarize(ctx, keys, mc)
}

// publish commits the tree and pushes it, and returns the commit. Where nothing changed that is the last one.
func (d *demo) publish(ctx context.Context, images target.Pushed) (string, error) {
	if err := target.Replace(d.Root, d.Clone); err != nil {
		return "", err
	}
	if d.Way.ByOLM() {
		made := filepath.Join(d.Clone, bundle.Dir)
		if err := os.RemoveAll(made); err != nil {
			return "", err
		}
		if err := os.CopyFS(made, os.DirFS(filepath.Join(d.Tree, bundle.Dir))); err != nil {
			return "", err
		}
	}
	if err := d.Stamp(d.Clone, images); err != nil {
		return "", err
	}
	changes, err := d.Git.Stage(ctx, target.Published()...)
	if err != nil {
		return "", err
	}
	if len(changes) > 0 {
		message := fmt.Sprintf("Install the memcached operator, way %s\n\n%s", d.Way, check.Trailer)
		if err := d.Git.Commit(ctx, message); err != nil {
			return "", err
		}
	}
	if err := d.Git.Push(ctx); err != nil {
		return "", fmt.Errorf("%w: you need the right to push to %s of %s; if somebody else pushed meanwhile, run it again",
			err, d.Revision, d.Repo)
	}
	commit, err := d.Git.Head(ctx)
	if err == nil {
		d.published = true
		d.changed("pushed commit %.7s to the branch %s of %s", commit, d.Revision, d.Repo)
	}
	return commit, err
}

// apply gives Argo CD its settings, the AppProjects and the root Application.
func (d *demo) apply(ctx context.Context) error {
	d.applied = true
	if len(d.Settings) > 0 {
		if err := argo.Apply(ctx, d.Kube.Client, d.Settings); err != nil {
			return err
		}
		d.changed("applied the settings of Argo CD in %s", d.ArgoCDNamespace)
	}
	if err := argo.Apply(ctx, d.Kube.Client, d.Bootstrap); err != nil {
		return err
	}
	d.changed("applied AppProjects and the Application %s in %s", argo.Root, d.ArgoCDNamespace)
	return nil
}

func (d *demo) storeKeys(ctx context.Context, image string) (keys clientpod.Keys, mc *cachev1.Memcached, err error) {
	mc = &cachev1.Memcached{}
	if err := d.Kube.Client.Get(ctx, client.ObjectKey{Namespace: check.Namespace, Name: sample}, mc); err != nil {
		return keys, nil, err
	}
	pods := clientpod.Client{
		Kube: d.Kube.Client, Config: d.Kube.Config, Namespace: check.Namespace, Image: image,
	}
	err = progress.Stage(ctx, "Keys, by two clients in turn", func(update func(string)) error {
		for _, verb := range []string{"set", "get"} {
			if keys, err = pods.Run(ctx, update, append(clientpod.Reach(mc), verb)...); err != nil {
				return err
			}
		}
		return nil
	})
	return keys, mc, err
}
