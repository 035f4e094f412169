package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling"
	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/utils"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	pollwait "k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

const (
	fieldOwner = "memcached-operator-deploy"

	// operatorGroup is the API group of the operator's own kinds, and the prefix of the labels that mark an object as
	// applied by this program.
	operatorGroup = "cache.example.com"
)

// cluster is a connection to an API server.
type cluster struct {
	*flags
	out       io.Writer
	client    client.Client
	manager   *ssa.ResourceManager
	poller    *polling.StatusPoller
	namespace string // for objects without one: that of the kubeconfig's context
}

// connect finds the cluster by the rules of kubectl: the flag, $KUBECONFIG, ~/.kube/config, the Pod's service account.
func connect(f *flags, out io.Writer) (*cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules,
		&clientcmd.ConfigOverrides{CurrentContext: f.context})
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("no cluster is configured: %w: name one by --kubeconfig and --context, "+
			"or start one by make demo", err)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 50, 100 // one short burst, unlike a controller
	config.WarningHandler = rest.NewWarningWriter(os.Stderr, rest.WarningWriterOptions{Deduplicate: true})
	kube, err := client.New(config, client.Options{})
	if err != nil {
		return nil, err
	}
	// One small request, so that an unreachable cluster is not reported as the failure of the first object.
	if _, err := kube.RESTMapper().RESTMapping(schema.GroupKind{Kind: "Namespace"}); err != nil {
		return nil, fmt.Errorf("%s does not answer: %w: is it running, and is it the right --context?",
			config.Host, err)
	}
	poller := polling.NewStatusPoller(kube, kube.RESTMapper(), polling.Options{})
	manager := ssa.NewResourceManager(kube, poller, ssa.Owner{Field: fieldOwner, Group: operatorGroup})
	manager.SetConcurrency(4)
	return &cluster{flags: f, out: out, client: kube, manager: manager, poller: poller, namespace: namespace}, nil
}

// report prints what happened to an object.
func (c *cluster) report(object, action, message string) {
	fmt.Fprintln(c.out, strings.TrimSuffix(object+" "+action+": "+message, ": "))
}

// setNamespaces gives namespaced objects without a namespace that of the context. Its error is a NoMatchError if the
// API server does not serve the kind of an object.
func (c *cluster) setNamespaces(objects []*unstructured.Unstructured) (unknown error) {
	for _, o := range objects {
		namespaced, err := apiutil.IsObjectNamespaced(o, c.client.Scheme(), c.client.RESTMapper())
		switch {
		case meta.IsNoMatchError(err):
			unknown = fmt.Errorf("%s: %w: apply the CRD of that kind first (make install)", utils.FmtUnstructured(o), err)
		case err != nil:
			return fmt.Errorf("%s: %w", utils.FmtUnstructured(o), err)
		case namespaced && o.GetNamespace() == "":
			o.SetNamespace(c.namespace)
		}
	}
	return unknown
}

// waitServed waits until the API server serves the kinds of all objects, some seconds at most: discovery trails the
// condition Established of a CRD.
func (c *cluster) waitServed(ctx context.Context, objects []*unstructured.Unstructured) (err error) {
	_ = pollwait.PollUntilContextTimeout(ctx, pollInterval/4, 10*pollInterval, true, func(context.Context) (bool, error) {
		err = c.setNamespaces(objects)
		return !meta.IsNoMatchError(err), nil
	})
	return err
}

// find returns the live object, or nil if it or its kind does not exist.
func (c *cluster) find(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(o.GroupVersionKind())
	err := c.client.Get(ctx, client.ObjectKeyFromObject(o), live)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", utils.FmtUnstructured(o), err)
	}
	return live, nil
}

// owned reports whether this program applied the live object: apply and diff set its labels.
func owned(live *unstructured.Unstructured) bool {
	return live.GetLabels()[operatorGroup+"/name"] == fieldOwner
}

// managersOf names the field managers of a live object.
func managersOf(live *unstructured.Unstructured) string {
	managers := sets.New[string]()
	for _, entry := range live.GetManagedFields() {
		managers.Insert(entry.Manager)
	}
	return strings.Join(sets.List(managers), ", ")
}
