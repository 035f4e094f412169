package current

import (
	"context"
	"fmt"
	"strings"
	"time"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/demo/argo"
	"github.com/example-inc/memcached-operator/scripts/demo/check"
	"github.com/example-inc/memcached-operator/scripts/demo/clientpod"
	"github.com/example-inc/memcached-operator/scripts/demo/target"
	"github.com/example-inc/memcached-operator/scripts/progress"
)

// summarize says what is there now, what to try next, and how to remove it.
func (d *demo) summarize(ctx context.Context, keys clientpod.Keys, mc *cachev1.Memcached) error {
	root, err := d.read(ctx, argo.Root)
	if err != nil {
		return err
	}
	out := d.console.Out
	fmt.Fprintln(out, "\nApplications:")
	for _, name := range append([]string{argo.Root}, root.Children...) {
		application, err := d.read(ctx, name)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "  %-20s %-8s %-10s %.7s\n", name, application.Sync, application.Health, application.Revision)
	}
	fmt.Fprintf(out, "\nMemcached %s in %s: nodes %s\n", mc.Name, mc.Namespace, strings.Join(mc.Status.Nodes, ", "))
	fmt.Fprintf(out, "A second client found %d keys on %d nodes, %d of them on more than one.\n",
		keys.Found, len(keys.Nodes), keys.Copies)
	fmt.Fprintf(out, "\nAll of it took %s.\n\n%s\n%s", progress.Elapsed(time.Since(d.started)), d.nextSteps(), d.removal())
	return nil
}

// kubectl is the command for the cluster of the demo.
func (d *demo) kubectl() string { return "kubectl --context " + d.Kube.Context }

// nextSteps are commands to be pasted as they are.
func (d *demo) nextSteps() string {
	return fmt.Sprintf(`What to try next:

  # Commit a size of 5, and watch Argo CD and the operator follow (Argo CD looks every 3 minutes, or by a webhook):
  git clone --branch %[1]s %[2]s memcached-demo && cd memcached-demo
  sed -i 's/value: 3/value: 5/' gitops/samples/kustomization.yaml && git commit -am 'Five nodes' && git push
  %[3]s -n %[4]s get memcached -w

  # Break something, and watch it heal:
  %[3]s -n %[4]s delete deployment %[5]s
  %[3]s -n %[4]s get deployment,events
`, d.Revision, d.Repo, d.kubectl(), check.Namespace, sample)
}

// removal says how to remove what was made so far, and what the first command leaves.
func (d *demo) removal() string {
	var r strings.Builder
	if d.applied {
		fmt.Fprintf(&r, "  # Remove what Argo CD installed. The caches in Git go with it:\n")
		fmt.Fprintf(&r, "  %s -n %s delete application %s\n\n", d.kubectl(), d.ArgoCDNamespace, argo.Root)
		fmt.Fprintf(&r, "  # What stays. The CRD takes every Memcached of the cluster along, the namespace those in it:\n")
		if kept := keeps[d.Way]; kept != "" {
			fmt.Fprintf(&r, "  # %s stays, too: docs/gitops.md, Delete\n", kept)
		}
		fmt.Fprintf(&r, "  %s delete crd memcacheds.cache.example.com\n", d.kubectl())
		fmt.Fprintf(&r, "  %s delete namespace %s\n", d.kubectl(), check.Namespace)
		fmt.Fprintf(&r, "  %s -n %s delete appproject%s\n", d.kubectl(), d.ArgoCDNamespace, d.projects())
		fmt.Fprintf(&r, "  # and Argo CD's settings (docs/demo.md)\n")
	}
	if d.published && (d.Git.New || d.Revision == target.Branch) {
		fmt.Fprintf(&r, "  git push %s --delete %s\n", d.Repo, d.Revision)
	}
	fmt.Fprintf(&r, "  # and the images tagged demo in %s\n", d.Registry)
	return r.String()
}

// keeps is what a way leaves behind, besides what every way does.
var keeps = map[target.Way]string{target.OLM: "OLM", target.OLMv1: "The ClusterExtension, and what it installed,"}

// projects are the names of the AppProjects that were applied.
func (d *demo) projects() (names string) {
	for _, object := range d.Bootstrap {
		if object.GetKind() == "AppProject" {
			names += " " + object.GetName()
		}
	}
	return names
}
