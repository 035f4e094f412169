package supervisor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const fieldOwner = client.FieldOwner("local-cluster")

// kube is the supervisor's own access to the API server.
type kube struct{ client.Client }

func newKube(kubeconfig string) (kube, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return kube{}, err
	}
	c, err := client.New(config, client.Options{})
	return kube{c}, err
}

// apply writes the objects of a YAML stream, into a namespace where their kind has one.
func (k kube) apply(ctx context.Context, owner client.FieldOwner, namespace string, manifests []byte) error {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		namespaced, err := k.IsObjectNamespaced(object)
		if err != nil {
			return err
		}
		if namespaced {
			object.SetNamespace(namespace)
		}
		config := client.ApplyConfigurationFromUnstructured(object)
		if err := k.Apply(ctx, config, owner, client.ForceOwnership); err != nil {
			return fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
}

// nodeReady is nil when the Node can run Pods.
func (k kube) nodeReady(ctx context.Context) error {
	var node corev1.Node
	if err := k.Get(ctx, client.ObjectKey{Name: nodeName}, &node); err != nil {
		return err
	}
	for _, condition := range node.Status.Conditions {
		switch {
		case condition.Type != corev1.NodeReady:
		case condition.Status == corev1.ConditionTrue:
			return nil
		default:
			return errors.New(condition.Message)
		}
	}
	return errors.New("the kubelet has not reported yet")
}

// accountReady is nil when Pods get their service account: only then can one be created.
func (k kube) accountReady(ctx context.Context) error {
	return k.Get(ctx, client.ObjectKey{Namespace: "default", Name: "default"}, &corev1.ServiceAccount{})
}
