package commands

// The command diff.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/access"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/change"
)

type diffOptions struct {
	files   resource.FilenameOptions
	manager string
	output  output
}

func newDiff(p *plugin) *cobra.Command {
	options := &diffOptions{}
	command := &cobra.Command{
		Use:   "diff -f FILE",
		Short: "Show what a change to a Memcached would do to its Pods and keys",
		Long: "Shows what a change to a Memcached would do: which objects change, whether Pods are replaced, and whether " +
			"keys are\nkept, handed over or lost. The API server validates the manifest and fills in defaults, and nothing " +
			"is changed.\nThe rest is computed by the same code as the operator's. Secrets are not read.",
		Example: "  kubectl memcached diff -f sessions.yaml\n  kubectl kustomize overlays/prod | kubectl memcached diff -f -",
		Args:    cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(command *cobra.Command, _ []string) error {
			return p.diff(command.Context(), *options)
		},
	}
	flags := command.Flags()
	flags.StringSliceVarP(&options.files.Filenames, "filename", "f", nil,
		"Files, folders or URLs with manifests; - is stdin.")
	flags.BoolVarP(&options.files.Recursive, "recursive", "R", false, "Read folders recursively.")
	flags.StringVar(&options.manager, "field-manager", "",
		"Field manager that will apply the manifest. Defaults to the one that applied the existing Memcached.")
	options.output.addFlag(command)
	return command
}

// diff shows what the manifests of Memcacheds would do.
func (p *plugin) diff(ctx context.Context, options diffOptions) error {
	if len(options.files.Filenames) == 0 {
		return errors.New("--filename is missing: name a file with a Memcached, or - for stdin")
	}
	cluster, namespace, err := p.connect()
	if err != nil {
		return err
	}
	manifests, err := p.manifests(options.files, namespace)
	if err != nil {
		return err
	}
	changes := []change.Change{}
	var errs []error
	for _, manifest := range manifests {
		found, err := changeOf(ctx, cluster, manifest, options.manager, p.screen.Now)
		if err != nil {
			errs = append(errs, fmt.Errorf("diff of Memcached %s/%s: %w", manifest.GetNamespace(), manifest.GetName(), err))
			continue
		}
		changes = append(changes, found)
	}
	err = p.print(options.output, "CacheChangeList", items(changes), func() error {
		for i, found := range changes {
			if i > 0 {
				fmt.Fprintln(p.screen)
			}
			p.screen.Change(found)
		}
		return nil
	})
	return errors.Join(append(errs, err)...)
}

// manifests reads the Memcacheds in files. Other objects are left out. If a flag names a namespace, all Memcacheds have
// to be in that namespace.
func (p *plugin) manifests(files resource.FilenameOptions, namespace string) ([]*unstructured.Unstructured, error) {
	infos, err := resource.NewLocalBuilder().Unstructured().
		NamespaceParam(namespace).DefaultNamespace().FilenameParam(false, &files).Flatten().Do().Infos()
	if err != nil {
		return nil, err
	}
	var found []*unstructured.Unstructured
	for _, info := range infos {
		manifest, ok := info.Object.(*unstructured.Unstructured)
		if !ok || manifest.GroupVersionKind() != cachev1.GroupVersion.WithKind("Memcached") {
			continue
		}
		switch manifest.GetNamespace() {
		case namespace:
		case "":
			manifest.SetNamespace(namespace)
		default:
			if given := *p.flags.Namespace; given != "" {
				return nil, fmt.Errorf("--namespace %s is not that of Memcached %s/%s of the manifest: "+
					"leave it out, or correct the manifest", given, manifest.GetNamespace(), manifest.GetName())
			}
		}
		found = append(found, manifest)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%q have no manifest of kind Memcached in %s", files.Filenames, cachev1.GroupVersion)
	}
	return found, nil
}

// changeOf reads the existing objects, and asks the API server which object the manifest would become.
func changeOf(
	ctx context.Context, cluster access.Cluster, manifest *unstructured.Unstructured, manager string, now time.Time,
) (change.Change, error) {
	in := change.Input{Now: now}
	live := &cachev1.Memcached{}
	switch err := cluster.Get(ctx, client.ObjectKeyFromObject(manifest), live); {
	case err == nil:
		in.Before = live
	case !apierrors.IsNotFound(err):
		return change.Change{}, err
	}
	var err error
	if in.After, err = cluster.Applied(ctx, manifest, in.Before, manager); err != nil {
		return change.Change{}, err
	}
	if in.Current, err = cluster.Current(ctx, in.After); err != nil {
		return change.Change{}, err
	}
	return change.Of(in)
}
