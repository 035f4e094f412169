package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/cluster/preflight"
	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
	"github.com/example-inc/memcached-operator/scripts/images/debian"
	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
	"github.com/example-inc/memcached-operator/scripts/worktree"
	"github.com/example-inc/memcached-operator/test/client/clientpod"
)

// sample is the name of the Memcached in the tree.
const sample = "memcached-sample"

// trailer is the last line of the demo's commits. A later commit of the demo may replace files of a commit with this
// line.
const trailer = "Made-by: memcached-operator demo"

// demo is one run of the demo. The templates read its fields.
type demo struct {
	*pipeline.Pipeline
	console console
	timeout time.Duration
	started time.Time

	Changes            []string                     // files of the commit
	Objects            []*unstructured.Unstructured // objects to apply
	Published, Applied bool                         // which steps are done

	Applications          []pipeline.Application
	Nodes                 []string // the Pods of the sample
	Listing, Result, Took string
}

// runLocal starts a local cluster, and runs the demo on it.
func runLocal(ctx context.Context, out io.Writer, options local.Options) error {
	d := &demo{console: console{Out: out}, timeout: 5 * time.Minute, started: time.Now()}
	options.ArgoCD, options.Needs = true, preflight.DebianMemcached()
	cluster, err := local.Up(ctx, options)
	if err != nil {
		return err
	}
	if d.Pipeline, err = pipeline.New(ctx, cluster); err != nil {
		return err
	}
	if _, err := debian.Mirror(ctx); err != nil {
		fmt.Fprintf(out, "The demo runs without slots, because slots need the memcached of Debian %s, and its image "+
			"could not be made: %s.\n", debian.SuiteForSlots, err)
	} else {
		d.Suite, d.Edit = debian.SuiteForSlots, withSlots
	}
	return d.install(ctx)
}

// runCurrent checks the user's cluster, registry and Git repository, asks the user to agree, and runs the demo on them.
func runCurrent(ctx context.Context, o options, console console) error {
	if o.Output != "text" && (o.Output != "json" || !o.CheckOnly) {
		return fmt.Errorf("--output %q: choose text, or json with --check-only", o.Output)
	}
	root, err := builds.Root()
	if err != nil {
		return err
	}
	now, err := values.Read(root)
	if err != nil {
		return err
	}
	d := &demo{console: console, timeout: o.Timeout, started: time.Now()}
	d.Pipeline = &pipeline.Pipeline{Target: o.Target, Root: root}
	if err := d.Complete(now); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := d.check(ctx, d.checks(o.Context, filepath.Join(tmp, "clone")), o.Output); err != nil || o.CheckOnly {
		return err
	}
	if err := d.ask(ctx, o.Yes); err != nil {
		return err
	}
	return d.report(ctx, d.install(ctx))
}

// install installs the operator, and stores keys in a cache.
func (d *demo) install(ctx context.Context) error {
	var images pipeline.Images
	var commit string
	stages := []struct {
		title string
		run   func(update func(string)) error
	}{
		{"Images", func(update func(string)) (err error) {
			images, err = d.PushImages(ctx, pipeline.Version, update)
			return err
		}},
		{"Git push", func(func(string)) (err error) {
			message := fmt.Sprintf("Install the memcached operator, method %s\n\n%s", d.Method, trailer)
			commit, err = d.Publish(ctx, message, images)
			d.Published = err == nil
			return err
		}},
		{"Root Application", func(func(string)) error {
			d.Applied = true
			return d.ApplyRoot(ctx)
		}},
		{"Argo CD syncs", func(update func(string)) error {
			return d.waitHealthy(ctx, commit, update)
		}},
	}
	for _, stage := range stages {
		if err := progress.Stage(ctx, stage.title, stage.run); err != nil {
			return err
		}
	}
	return d.show(ctx, images.Client)
}

func (d *demo) waitHealthy(ctx context.Context, commit string, update func(string)) error {
	return d.WaitHealthy(ctx, commit, d.timeout, func(s string) { update(shorten(s)) })
}

// show stores keys in the sample, reads the keys by another client, and prints the result. If the cache has slots, show
// then replaces all Pods, and reads the keys by a third client.
func (d *demo) show(ctx context.Context, image string) error {
	mc := &cachev1.Memcached{}
	key := client.ObjectKey{Namespace: pipeline.SamplesNamespace, Name: sample}
	if err := d.Client.Get(ctx, key, mc); err != nil {
		return err
	}
	clients := clientpod.Clients{Kube: d.Client, Config: d.Config, Namespace: key.Namespace, Image: image}
	var stored clientpod.Keys
	err := progress.Stage(ctx, "Store keys, and read them by a second client", func(update func(string)) (err error) {
		for _, verb := range []string{"set", "get"} {
			if stored, err = clients.Run(ctx, update, reach(mc, verb)...); err != nil {
				return err
			}
		}
		return nil
	})
	result := fmt.Sprintf("A second client found %d keys on %d Pods, %d of them on more than one.",
		stored.Found, len(stored.Nodes), stored.Copies)
	if err == nil && d.Edit != nil {
		err = progress.Stage(ctx, "A commit replaces all Pods", func(update func(string)) error {
			found, err := d.replacePods(ctx, update, clients, mc)
			result += fmt.Sprintf("\nAll %d Pods were replaced by a commit: %d of %d keys are still there.",
				len(mc.Status.Nodes), found, keys)
			return err
		})
	}
	if err != nil {
		return err
	}
	return d.summarize(ctx, mc, result)
}

// report prints how to continue an incomplete run, and how to remove what it changed.
func (d *demo) report(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx) // instead of the error that the cause led to in a step
	}
	fmt.Fprint(d.console.Out, "\nRun the same command again to continue from here. To remove what it has changed so "+
		"far:\n\n")
	return errors.Join(err, d.print("remove"))
}

// A client stores keys keys. At least leastKept of them must still exist after all Pods were replaced.
const (
	keys      = 1000
	leastKept = keys * 995 / 1000
)

// withSlots changes the tree, so that the sample has slots. No client of the demo runs while Pods are replaced, so a
// short termination delay is enough.
func withSlots(dir string) error {
	return errors.Join(patchSample(dir, "/spec/slots", "{}"), patchSample(dir, "/spec/terminationDelaySeconds", "3"))
}

// patchSample adds a field to the sample in the tree.
func patchSample(dir, path, value string) error {
	size := worktree.Place{File: "gitops/samples/kustomization.yaml", Find: `(?m)^        value: (\d+)$`}
	count, err := size.Read(dir)
	if err != nil {
		return err
	}
	return size.Write(dir, count+"\n      - op: add\n        path: "+path+"\n        value: "+value)
}

// reach returns the arguments of a client that stores or reads the keys.
func reach(mc *cachev1.Memcached, verb string) []string {
	return append(clientpod.Reach(mc), verb, fmt.Sprintf("--keys=%d", keys))
}

// replacePods commits more memory for the sample, which replaces all its Pods. It returns how many keys a client then
// finds.
func (d *demo) replacePods(
	ctx context.Context, update func(string), clients clientpod.Clients, mc *cachev1.Memcached,
) (found int, err error) {
	before := mc.Status.Nodes
	commit, err := d.Git.Commit(ctx, "More memory for the sample", func(dir string) error {
		return patchSample(dir, "/spec/memory", "128Mi")
	})
	if err != nil {
		return 0, err
	}
	if err := d.waitHealthy(ctx, commit, update); err != nil {
		return 0, err
	}
	if err := d.Client.Get(ctx, client.ObjectKeyFromObject(mc), mc); err != nil {
		return 0, err
	}
	if slices.ContainsFunc(mc.Status.Nodes, func(pod string) bool { return slices.Contains(before, pod) }) {
		return 0, fmt.Errorf("not all Pods were replaced: the cache had the Pods %s and now has %s", before, mc.Status.Nodes)
	}
	got, err := clients.Run(ctx, update, reach(mc, "get")...)
	if err == nil && got.Found < leastKept {
		err = fmt.Errorf("only %d of %d keys are still there after all Pods were replaced. status.slots has the reason "+
			"(docs/slots.md, When a handoff fails): %s --kubeconfig %s -n %s get memcached %s -o yaml",
			got.Found, keys, d.Cluster.Kubectl, d.Cluster.Kubeconfig, mc.Namespace, mc.Name)
	}
	return got.Found, err
}
