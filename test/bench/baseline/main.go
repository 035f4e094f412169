// Command baseline is the minimal program that the bench compares the operator with. For each Memcached, it sends the
// requests that were recorded when the operator reconciled one Memcached, from prepared bytes. It opens the same
// watches as the operator, and does nothing else.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/bench/baseline/template"
)

func main() {
	file := flag.String("template", "", "file with the requests to send for each Memcached; without it, list objects")
	inFlight := flag.Int("in-flight", 1, "number of requests in flight")
	flag.Parse()
	if err := run(context.Background(), *file, *inFlight); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, file string, inFlight int) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	config.QPS = -1
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), cachev1.AddToScheme(scheme)); err != nil {
		return err
	}
	lister, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	if file == "" {
		return list(ctx, lister)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	return create(ctx, lister, kube.RESTClient(), file, inFlight)
}

func create(ctx context.Context, lister client.WithWatch, kube rest.Interface, file string, inFlight int) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var requests []template.Request
	if err := json.Unmarshal(content, &requests); err != nil {
		return err
	}
	var found cachev1.MemcachedList
	if err := lister.List(ctx, &found, fromCache()); err != nil {
		return err
	}
	if err := watch(ctx, lister); err != nil {
		return err
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(inFlight)
	for _, mc := range found.Items {
		work.Go(func() error {
			values := strings.NewReplacer(
				template.Name, mc.Name, template.Namespace, mc.Namespace, template.UID, string(mc.UID))
			for _, request := range requests {
				err := kube.Patch(types.PatchType(request.Type)).RequestURI(values.Replace(request.URI)).
					Body([]byte(values.Replace(request.Body))).Do(ctx).Error()
				if err != nil {
					return fmt.Errorf("%s of %s: %w", request.URI, client.ObjectKeyFromObject(&mc), err)
				}
			}
			return nil
		})
	}
	return work.Wait()
}
