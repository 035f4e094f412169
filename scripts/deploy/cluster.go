package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/utils"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/example-inc/memcached-operator/scripts/kubeconfig"
)

const (
	fieldOwner = "memcached-operator-deploy"

	// operatorGroup is the API group of the operator's own kinds, and the prefix of the labels that mark an object as
	// applied by this program.
	operatorGroup = "cache.example.com"
)

// cluster is a connection to an API server.
type cluster struct {
	kubeconfig.Connection
	*flags

	out     io.Writer
	manager *ssa.ResourceManager
}

func connect(f *flags, out io.Writer) (*cluster, error) {
	connection, err := kubeconfig.Connect(f.kubeconfig, f.context, fieldOwner, os.Stderr)
	if err != nil {
		return nil, err
	}
	manager := ssa.NewResourceManager(connection.Client, nil, ssa.Owner{Field: fieldOwner, Group: operatorGroup})
	manager.SetConcurrency(4)
	return &cluster{Connection: connection, flags: f, out: out, manager: manager}, nil
}

// setNamespaces sets the namespace of the context in namespaced objects that have no namespace. It returns a
// NoMatchError if the API server does not serve the kind of an object.
func (c *cluster) setNamespaces(objects []*unstructured.Unstructured) (unknown error) {
	for _, o := range objects {
		namespaced, err := apiutil.IsObjectNamespaced(o, c.Client.Scheme(), c.Client.RESTMapper())
		switch {
		case meta.IsNoMatchError(err):
			unknown = fmt.Errorf("%s: %w: install the CRD of that kind first (make install)", utils.FmtUnstructured(o), err)
		case err != nil:
			return fmt.Errorf("%s: %w", utils.FmtUnstructured(o), err)
		case namespaced && o.GetNamespace() == "":
			o.SetNamespace(c.Namespace)
		}
	}
	return unknown
}

// find returns the live object, or nil if it or its kind does not exist.
func (c *cluster) find(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(o.GroupVersionKind())
	err := c.Client.Get(ctx, client.ObjectKeyFromObject(o), live)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", utils.FmtUnstructured(o), err)
	}
	return live, nil
}

// owned reports whether this program applied the live object. The labels that apply sets show that.
func owned(live *unstructured.Unstructured) bool {
	return live.GetLabels()[operatorGroup+"/name"] == fieldOwner
}

// managersOf returns the names of the field managers of a live object.
func managersOf(live *unstructured.Unstructured) string {
	managers := sets.New[string]()
	for _, entry := range live.GetManagedFields() {
		managers.Insert(entry.Manager)
	}
	return "field manager: " + strings.Join(sets.List(managers), ", ")
}
