package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling"
	"github.com/fluxcd/pkg/ssa"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// fieldOwner signs every field this program sets, and so tells its objects from others.
const fieldOwner = "memcached-operator-deploy"

// operatorGroup is the API group of the operator's own kinds.
const operatorGroup = "cache.example.com"

// signature is the annotation that makes sure fieldOwner has something to own: of a bare
// Namespace that sets nothing but its name the API server remembers no owner at all.
const signature = operatorGroup + "/applied-by"

// cluster is one API server and the ways of this program to talk to it.
type cluster struct {
	client  client.Client
	manager *ssa.ResourceManager
	poller  *polling.StatusPoller

	// namespace is for objects that name none, as the context of the kubeconfig has it.
	namespace string
}

// dial follows the rules of kubectl: the flag, $KUBECONFIG, ~/.kube/config, a Pod's own account.
func dial(kubeconfig, context string) (*cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: context}
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("no cluster to talk to: %w: name one by --kubeconfig and --context, "+
			"or start one by make demo", err)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, err
	}
	return connect(config, namespace)
}

// connect prepares the clients and asks the API server one small question, so that a cluster
// that is not there is reported as such and not as the failure of the first object.
func connect(config *rest.Config, namespace string) (*cluster, error) {
	config.QPS, config.Burst = 50, 100 // a deployment is one short burst, not a controller's lifetime
	config.UserAgent = fieldOwner
	config.WarningHandler = rest.NewWarningWriter(os.Stderr, rest.WarningWriterOptions{Deduplicate: true})

	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	mapper, err := apiutil.NewDynamicRESTMapper(config, httpClient)
	if err != nil {
		return nil, err
	}
	kube, err := client.New(config, client.Options{HTTPClient: httpClient, Mapper: mapper})
	if err != nil {
		return nil, err
	}
	if _, err := mapper.RESTMapping(schema.GroupKind{Kind: "Namespace"}); err != nil {
		return nil, fmt.Errorf("%s does not answer: %w: is it running, and is it the right --context?",
			config.Host, err)
	}
	poller := polling.NewStatusPoller(kube, mapper, polling.Options{})
	manager := ssa.NewResourceManager(kube, poller, ssa.Owner{Field: fieldOwner, Group: operatorGroup})
	manager.SetConcurrency(4)
	return &cluster{client: kube, manager: manager, poller: poller, namespace: namespace}, nil
}

// settle gives objects without a namespace the one of the context. Kinds that the API server
// does not know yet are left for a second call, once their definitions are there.
func (c *cluster) settle(objects []*unstructured.Unstructured) error {
	for _, o := range objects {
		if o.GetNamespace() != "" {
			continue
		}
		namespaced, err := apiutil.IsObjectNamespaced(o, c.client.Scheme(), c.client.RESTMapper())
		switch {
		case meta.IsNoMatchError(err):
		case err != nil:
			return fmt.Errorf("%s: %w", nameOf(o), err)
		case namespaced:
			o.SetNamespace(c.namespace)
		}
	}
	return nil
}

// find returns the live object, or nil if there is none, be it that its kind is not known yet.
func (c *cluster) find(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(o.GroupVersionKind())
	err := c.client.Get(ctx, client.ObjectKeyFromObject(o), live)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", nameOf(o), err)
	}
	return live, nil
}

// sign marks objects as applied by this program.
func sign(objects []*unstructured.Unstructured) {
	for _, o := range objects {
		annotations := o.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[signature] = fieldOwner
		o.SetAnnotations(annotations)
	}
}

// isOurs tells whether this program applied the live object.
func isOurs(live *unstructured.Unstructured) bool {
	for _, entry := range live.GetManagedFields() {
		if entry.Manager == fieldOwner && entry.Operation == metav1.ManagedFieldsOperationApply {
			return true
		}
	}
	return false
}

// managersOf names who set the fields of a live object, for the message about a foreign one.
func managersOf(live *unstructured.Unstructured) string {
	var managers []string
	for _, entry := range live.GetManagedFields() {
		if entry.Subresource == "" && !slices.Contains(managers, entry.Manager) {
			managers = append(managers, entry.Manager)
		}
	}
	return cmp.Or(strings.Join(managers, ", "), "an unknown manager")
}
