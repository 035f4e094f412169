// Package access reads and changes objects with the rights of the user who runs the plugin. It requests only these
// objects from the API server: it uses no discovery, and watches nothing.
package access

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/cached"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

// pageSize is how many objects one answer of the API server has at most, the same as with kubectl.
const pageSize = 500

// Cluster reads and changes objects with the rights of a user.
type Cluster struct {
	// Objects reads and changes objects of any kind.
	Objects dynamic.Interface

	// Pods reads the logs of Pods.
	Pods corev1client.PodsGetter
}

var _ client.Reader = Cluster{}

// New makes the clients for the cluster of a configuration. It sends no request.
func New(config *rest.Config) (Cluster, error) {
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return Cluster{}, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	pods, err := corev1client.NewForConfig(config)
	if err != nil {
		return Cluster{}, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	return Cluster{Objects: objects, Pods: pods}, nil
}

// Scheme returns a scheme with all types that the plugin reads.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, cachev1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err) // Two types have the same name: a programming error.
		}
	}
	return scheme
}

var scheme = Scheme()

// Get reads an object.
func (c Cluster) Get(ctx context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	resource, _, err := resourceOf(object)
	if err != nil {
		return err
	}
	found, err := c.Objects.Resource(resource).Namespace(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	if err != nil {
		return explained(err, resource)
	}
	return decode(found.Object, object)
}

// List reads all objects that the options choose, page by page. If the options choose objects by an index of the
// operator's cache, List chooses them by labels instead.
func (c Cluster) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	resource, kind, err := resourceOf(list)
	if err != nil {
		return err
	}
	chosen := new(client.ListOptions).ApplyOptions(options)
	query := metav1.ListOptions{Limit: pageSize}
	query.LabelSelector, query.FieldSelector = selectors(chosen, kind)
	all := map[string]any{"items": []any{}}
	for {
		page, err := c.Objects.Resource(resource).Namespace(chosen.Namespace).List(ctx, query)
		if err != nil {
			return explained(err, resource)
		}
		items := all["items"].([]any)
		for i := range page.Items {
			items = append(items, page.Items[i].Object)
		}
		all["items"] = items
		if query.Continue = page.GetContinue(); query.Continue == "" {
			return decodeList(all, list, chosen)
		}
	}
}

// isKindMissing reports whether the API server does not know the kind of an object. In this case, its answer has no
// status.
func isKindMissing(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.IsUnexpectedServerError(err)
}

// explained returns an error that says what to do, if the cluster does not have the CRD, does not answer, or refuses
// the request.
func explained(err error, resource schema.GroupVersionResource) error {
	var network net.Error
	switch isNetwork := errors.As(err, &network); {
	case isNetwork && network.Timeout():
		return fmt.Errorf("the API server does not answer in time: check the connection, or raise --request-timeout, or "+
			"--timeout where the command has it (%w)", err)
	case errors.Is(err, context.Canceled):
		return interrupted{err}
	case isNetwork:
		return fmt.Errorf("the API server cannot be reached: check the connection and the kubeconfig, or choose another "+
			"cluster by --context (%w)", err)
	case isKindMissing(err) && resource.Group == cachev1.GroupVersion.Group:
		return fmt.Errorf("the cluster does not have the CRD %s.%s: install the operator, or choose another cluster by "+
			"--context (%w)", resource.Resource, resource.Group, err)
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), " cannot "): // Webhooks refuse in other words.
		return fmt.Errorf("%w: docs/kubectl-memcached.md#rights has the role that allows this", err)
	}
	return err
}

// interrupted is the error of a request that the user has interrupted. Its text leaves out the details, because the
// user does not need them.
type interrupted struct{ error }

func (interrupted) Error() string { return "interrupted before the API server answered" }

func (i interrupted) Unwrap() error { return i.error }

// selectors returns the label selector and the field selector of a list request. The operator finds objects of a
// Memcached by an index in its client's cache. The API server does not have this index, so selectors returns labels
// that select these objects.
func selectors(chosen *client.ListOptions, kind schema.GroupVersionKind) (byLabels, byFields string) {
	if chosen.LabelSelector != nil {
		byLabels = chosen.LabelSelector.String()
	}
	if chosen.FieldSelector == nil {
		return byLabels, ""
	}
	instance, indexed := chosen.FieldSelector.RequiresExactMatch(observe.PodIndex)
	if !indexed {
		return byLabels, chosen.FieldSelector.String()
	}
	set := labels.Set(names.Selector(instance))
	if kind == discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice") {
		set[discoveryv1.LabelManagedBy] = names.SliceManager
	}
	return set.String(), ""
}

// decodeList reads the items of a list. It leaves out Pods that have the labels of a Memcached, but do not belong to
// it.
func decodeList(all map[string]any, list client.ObjectList, chosen *client.ListOptions) error {
	if err := decode(all, list); err != nil || chosen.FieldSelector == nil {
		return err
	}
	instance, indexed := chosen.FieldSelector.RequiresExactMatch(observe.PodIndex)
	if pods, ok := list.(*corev1.PodList); ok && indexed {
		pods.Items = slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return cached.MemcachedOf(&pod) != instance })
	}
	return nil
}

// Patch changes an object. With a dry run in the options, the API server checks the change, but does not store it.
func (c Cluster) Patch(
	ctx context.Context, object client.Object, patch types.PatchType, content []byte, options metav1.PatchOptions,
) error {
	resource, _, err := resourceOf(object)
	if err != nil {
		return err
	}
	namespaced := c.Objects.Resource(resource).Namespace(object.GetNamespace())
	changed, err := namespaced.Patch(ctx, object.GetName(), patch, content, options)
	if err != nil {
		return explained(err, resource)
	}
	return decode(changed.Object, object)
}

// logBytes limits how many bytes of a log are read.
const logBytes = 64 << 10

// Log returns the last lines of the log of a container, or of its previous run.
func (c Cluster) Log(
	ctx context.Context, pod *corev1.Pod, container string, previous bool, lines int64,
) (string, error) {
	options := &corev1.PodLogOptions{Container: container, Previous: previous, TailLines: &lines}
	stream, err := c.Pods.Pods(pod.Namespace).GetLogs(pod.Name, options).Stream(ctx)
	if err != nil {
		return "", err
	}
	defer stream.Close()
	content, err := io.ReadAll(io.LimitReader(stream, logBytes))
	return string(content), err
}

// resourceOf returns the API resource and the kind of an object or, for a list, of the objects in it.
func resourceOf(object runtime.Object) (schema.GroupVersionResource, schema.GroupVersionKind, error) {
	kind, err := apiutil.GVKForObject(object, scheme)
	if err != nil {
		return schema.GroupVersionResource{}, kind, err
	}
	if meta.IsListType(object) {
		kind.Kind = kind.Kind[:len(kind.Kind)-len("List")]
	}
	resource, _ := meta.UnsafeGuessKindToResource(kind) // The plugin reads only kinds with regular plurals.
	return resource, kind, nil
}

func decode(content map[string]any, into runtime.Object) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(content, into)
}
