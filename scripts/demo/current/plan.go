package current

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example-inc/memcached-operator/scripts/demo/check"
	"github.com/example-inc/memcached-operator/scripts/demo/target"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

// ask says what will be done, and goes on only if that is wanted.
func (d *demo) ask(ctx context.Context) error {
	fmt.Fprint(d.console.Out, "\n", d.plan())
	if d.options.Yes {
		return nil
	}
	if !d.console.Terminal {
		return errors.New("nothing was changed: there is no terminal to ask at; " +
			"with --yes (ARGS=--yes for make) it goes on without a question")
	}
	fmt.Fprint(d.console.Out, "\nNothing has been changed yet. Go on? [y/N] ")
	answer, err := d.answer(ctx)
	if err != nil {
		fmt.Fprintln(d.console.Out)
		return fmt.Errorf("%w; nothing was changed", err)
	}
	if !slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer))) {
		return errors.New("you did not say yes: nothing was changed")
	}
	return nil
}

// answer waits for a line, or for an interrupt.
func (d *demo) answer(ctx context.Context) (string, error) {
	lines := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(d.console.In).ReadString('\n') // The end of the input is no yes.
		lines <- line
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case line := <-lines:
		return line, nil
	}
}

// plan is what will be done, in order.
func (d *demo) plan() string {
	var p strings.Builder
	fmt.Fprintf(&p, "This is what it will do:\n\n  1. Build for linux/%s, and push:\n",
		strings.Join(d.Architectures(), ", linux/"))
	for _, image := range d.Images().All() {
		fmt.Fprintf(&p, "       %s\n", image)
	}
	fmt.Fprintf(&p, "     Nodes must be able to pull them, and %s.\n", d.MemcachedImage)
	fmt.Fprintf(&p, "  2. Commit %s/ of this working tree, with your settings, and push that\n     %s.\n     %s\n",
		strings.Join(target.Published(), "/, "), d.destination(), d.difference())
	if d.Way.ByOLM() {
		fmt.Fprintf(&p, "     %s/ is that of the version %s, which is made for this.\n", bundle.Dir, target.Version)
	}
	fmt.Fprintf(&p, "  3. Apply to the cluster of the context %s, %s,\n     by server-side apply without force:\n",
		d.Kube.Context, d.Kube.Config.Host)
	for _, object := range slices.Concat(d.Settings, d.Bootstrap) {
		fmt.Fprintf(&p, "       %s\n", describe(object))
	}
	fmt.Fprintf(&p, "  4. Wait until Argo CD has installed what %s names, and all of it is healthy:\n     %s.\n",
		"gitops/apps/overlays/"+string(d.Way), installs[d.Way])
	fmt.Fprintf(&p, "  5. Set and get keys by two client Pods in %s, which are deleted again.\n", check.Namespace)
	return p.String()
}

// installs is what a way brings into a cluster, besides the sample.
var installs = map[target.Way]string{
	target.Direct:    "the operator and its CRD in memcached-operator-system, a sample in memcached-samples",
	target.OLM:       "OLM in olm and operators, the operator in memcached-operator-system, a sample in memcached-samples",
	target.OpenShift: "the operator in memcached-operator-system by the cluster's OLM, a sample in memcached-samples",
	target.OLMv1: "cert-manager in its namespace, OLM v1 in olmv1-system, the operator in memcached-operator-system,\n" +
		"     a sample in memcached-samples",
}

func (d *demo) destination() string {
	if d.Git.New {
		return fmt.Sprintf("to the new branch %s of %s", d.Revision, d.Repo)
	}
	return fmt.Sprintf("on top of the branch %s of %s", d.Revision, d.Repo)
}

// difference counts the files that the commit changes, as far as that is known before the images are built.
func (d *demo) difference() string {
	count := map[string]int{}
	for _, change := range d.Changes {
		if change.Path != values.Path {
			count[change.Status]++
		}
	}
	return fmt.Sprintf("Besides the settings, %d files are new there, %d change, %d go.",
		count["A"], count["M"], count["D"])
}

// describe names an object, with how much of it is set where it is somebody else's.
func describe(object *unstructured.Unstructured) string {
	name := object.GetKind() + " " + object.GetName()
	if object.GetNamespace() != "" {
		name += " in " + object.GetNamespace()
	}
	if data, _, _ := unstructured.NestedMap(object.Object, "data"); len(data) > 0 {
		name += fmt.Sprintf(": %d keys of it", len(data))
	}
	if object.GetKind() == "ArgoCD" {
		name += ": resourceHealthChecks and resourceTrackingMethod"
	}
	return name
}
