// Command floor is the least that can be done for Memcacheds: it applies the same objects as the operator and writes
// the same status, from bytes that are ready, and knows nothing else. The bench measures the operator against it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/example-inc/memcached-operator/test/bench/floor/template"
)

const memcacheds = "/apis/cache.example.com/v1/memcacheds"

func main() {
	if err := command().ExecuteContext(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use: "floor", Short: "Do the least that can be done for Memcacheds, to the API server of $KUBECONFIG",
		SilenceUsage: true, SilenceErrors: true,
	}
	var file string
	var inFlight int
	create := &cobra.Command{
		Use: "create", Short: "Apply the children of each Memcached and write its status", Args: cobra.NoArgs,
		Example: "  floor create --template template.json --in-flight 10",
		RunE:    func(cmd *cobra.Command, _ []string) error { return create(cmd.Context(), file, inFlight) },
	}
	create.Flags().StringVar(&file, "template", "", "file with the requests of one Memcached")
	create.Flags().IntVar(&inFlight, "in-flight", 1, "how many requests are under way at a time")
	root.AddCommand(create, &cobra.Command{
		Use: "list", Short: "List what the operator caches", Args: cobra.NoArgs, Example: "  floor list",
		RunE: func(cmd *cobra.Command, _ []string) error { return list(cmd.Context()) },
	})
	return root
}

func connect() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return config, nil
}

func create(ctx context.Context, file string, inFlight int) error {
	one, err := template.Read(file)
	if err != nil {
		return err
	}
	config, err := connect()
	if err != nil {
		return err
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	answer, err := kube.RESTClient().Get().AbsPath(memcacheds).Param("resourceVersion", "0").Do(ctx).Raw()
	if err != nil {
		return err
	}
	var found metav1.PartialObjectMetadataList
	if err := json.Unmarshal(answer, &found); err != nil {
		return err
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(inFlight)
	for _, mc := range found.Items {
		work.Go(func() error { return write(ctx, kube.RESTClient(), one.For(mc)) })
	}
	return work.Wait()
}

// write makes the requests of one Memcached, one after another.
func write(ctx context.Context, kube rest.Interface, requests template.Requests) error {
	for _, request := range requests {
		patch := kube.Patch(types.PatchType(request.Type)).AbsPath(request.Path).Body([]byte(request.Body))
		if strings.HasPrefix(request.Type, string(types.ApplyPatchType)) {
			patch.Param("force", "true")
		}
		if err := patch.Param("fieldManager", template.FieldOwner).Do(ctx).Error(); err != nil {
			return fmt.Errorf("%s: %w", request.Path, err)
		}
	}
	return nil
}
