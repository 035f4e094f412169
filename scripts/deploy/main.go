// Command deploy applies the objects of a kustomization to a cluster and deletes them, by server-side apply and without
// kubectl. make install, make deploy, make undeploy and make uninstall run it.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/distribution/reference"
	"github.com/fluxcd/pkg/ssa/utils"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/example-inc/memcached-operator/scripts/cli"
	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

func main() { cli.Main(newCommand()) }

// flags are the flags that both commands have.
type flags struct {
	kubeconfig, context string
	timeout             time.Duration
	images              []string
	adopt, cascade      bool
}

func newCommand() *cobra.Command {
	f := &flags{}
	root := &cobra.Command{
		Use:   "deploy",
		Short: "Apply or delete the objects of a kustomization, by server-side apply",
		Long: "Renders the kustomization in a directory and works with its objects.\n" +
			"It needs neither kubectl nor the kustomize program.",
	}
	p := root.PersistentFlags()
	p.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig file (default: $KUBECONFIG, then ~/.kube/config)")
	p.StringVar(&f.context, "context", "", "context of the kubeconfig (default: its current one)")
	p.DurationVar(&f.timeout, "timeout", 5*time.Minute, "how long the whole command may take")
	p.StringArrayVar(&f.images, "set-image", nil,
		"NAME=REF: replace an image, by its name or the last part of its name (repeatable)")

	toApply := f.command((*cluster).apply, "apply DIR", "Apply the objects and wait until they are ready",
		"Applies CRDs, Namespaces and ClusterRoles first, waits until they are ready, and applies the rest.\n"+
			"Writes only the objects that differ. Refuses to change an object that another client applied,\n"+
			"unless --adopt is set.")
	toApply.Example = "  go run ./scripts/deploy apply overlays/amd64 \\\n" +
		"    --set-image memcached-operator=localhost:5001/memcached-operator:dev \\\n" +
		"    --set-image memcached-agent=localhost:5001/memcached-agent:dev"
	toApply.Flags().BoolVar(&f.adopt, "adopt", false, "take over objects that another client applied")

	toDelete := f.command((*cluster).remove, "delete DIR",
		"Delete the objects that apply created, and wait until they are removed",
		"Deletes the objects in the reverse order of apply. Keeps objects that another client applied,\nand reports "+
			"them. Deleting a Namespace deletes everything in it. Refuses to delete a CRD that has custom\n"+
			"resources outside of the kustomization, unless --cascade is set.")
	toDelete.Flags().BoolVar(&f.cascade, "cascade", false, "delete all custom resources along with their CRD")
	root.AddCommand(toApply, toDelete)
	return root
}

// command returns a command that renders its directory, connects to the cluster, and calls a function within the
// timeout.
func (f *flags) command(
	act func(*cluster, context.Context, []*unstructured.Unstructured) error, use, short, long string,
) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: short + ".\n\n" + long,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("name one kustomize directory, such as overlays/amd64 (--help shows more)")
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			started := time.Now()
			ctx, cancel := context.WithTimeout(command.Context(), f.timeout)
			defer cancel()
			objects, err := build(args[0], f.images)
			if err != nil {
				return err
			}
			c, err := connect(f, command.OutOrStdout())
			if err != nil {
				return err
			}
			if err := c.setNamespaces(objects); err != nil && !meta.IsNoMatchError(err) {
				return err
			}
			if err := act(c, ctx, objects); err != nil {
				return err
			}
			fmt.Fprintf(c.out, "%d objects in %s\n", len(objects), time.Since(started).Round(100*time.Millisecond))
			return nil
		},
	}
}

// build renders the kustomization in dir, with the images of --set-image.
func build(dir string, images []string) ([]*unstructured.Unstructured, error) {
	built, err := kustomize.Build(dir)
	if err != nil {
		return nil, err
	}
	text, err := built.AsYaml()
	for _, image := range images {
		if err == nil {
			text, err = setImage(text, image)
		}
	}
	if err != nil {
		return nil, err
	}
	return utils.ReadObjects(bytes.NewReader(text))
}

// setImage replaces an image of the manifests, in containers and in environment variables such as
// RELATED_IMAGE_MEMCACHED. The argument is NAME=REF, where NAME is the image's name or the last part of that name.
func setImage(manifests []byte, arg string) ([]byte, error) {
	name, ref, _ := strings.Cut(arg, "=")
	if _, err := reference.ParseNormalizedNamed(ref); err != nil || name == "" {
		return nil, fmt.Errorf("--set-image %q: write NAME=REF, such as "+
			"memcached-operator=localhost:5001/memcached-operator:dev: %w", arg, err)
	}
	field := regexp.MustCompile(`(?m)^([ -]*(?:image|value): )((?:\S+/)?` + regexp.QuoteMeta(name) + `)[:@]\S+$`)
	found := sets.New[string]()
	for _, match := range field.FindAllSubmatch(manifests, -1) {
		found.Insert(string(match[2]))
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("--set-image %q: %d images have that name: write the full name of one of them: %s",
			arg, len(found), strings.Join(sets.List(found), ", "))
	}
	return field.ReplaceAll(manifests, []byte("${1}"+ref)), nil
}
