package demotest

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Definition is a CustomResourceDefinition that takes anything. The name is plural.group; version and kind are those
// of its objects.
func Definition(name, version, kind string, namespaced bool) *unstructured.Unstructured {
	plural, group, _ := strings.Cut(name, ".")
	scope := "Cluster"
	if namespaced {
		scope = "Namespaced"
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata":   map[string]any{"name": name},
		"spec": map[string]any{
			"group": group, "scope": scope,
			"names": map[string]any{"plural": plural, "kind": kind, "listKind": kind + "List"},
			"versions": []any{map[string]any{
				"name": version, "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "x-kubernetes-preserve-unknown-fields": true,
				}},
			}},
		},
	}}
}

// ArgoCDKinds are those that every Argo CD has.
func ArgoCDKinds() []*unstructured.Unstructured {
	return []*unstructured.Unstructured{
		Definition("applications.argoproj.io", "v1alpha1", "Application", true),
		Definition("appprojects.argoproj.io", "v1alpha1", "AppProject", true),
	}
}

// Define creates definitions, and waits until their kinds are served.
func (s *Server) Define(ctx context.Context, definitions ...*unstructured.Unstructured) error {
	for _, definition := range definitions {
		if err := s.Client.Create(ctx, definition); err != nil {
			return err
		}
		objects := &unstructured.UnstructuredList{}
		group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
		versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
		version, _, _ := unstructured.NestedString(versions[0].(map[string]any), "name")
		objects.SetAPIVersion(group + "/" + version)
		objects.SetKind(kind + "List")
		served := func(ctx context.Context) (bool, error) { return s.Client.List(ctx, objects) == nil, nil }
		if err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, 30*time.Second, true, served); err != nil {
			return fmt.Errorf("%s is not served: %w", definition.GetName(), err)
		}
	}
	return nil
}

// Undefine removes a definition with all its objects, and waits until it is gone.
func (s *Server) Undefine(ctx context.Context, definition *unstructured.Unstructured) error {
	if err := s.Client.Delete(ctx, definition); err != nil {
		return err
	}
	gone := func(ctx context.Context) (bool, error) {
		return apierrors.IsNotFound(s.Client.Get(ctx, client.ObjectKeyFromObject(definition), definition)), nil
	}
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 30*time.Second, true, gone)
}

// Object is an object of any kind, with nothing but a name.
func Object(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

// Tracked marks an object as belonging to an Application of Argo CD.
func Tracked[T client.Object](object T, application string) T {
	object.SetAnnotations(map[string]string{"argocd.argoproj.io/tracking-id": application + ":group/Kind:namespace/name"})
	return object
}

// Namespace is a namespace.
func Namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// ArgoCDSettings is the ConfigMap that every Argo CD has.
func ArgoCDSettings(namespace string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "argocd-cm", Labels: map[string]string{"app.kubernetes.io/part-of": "argocd"},
		},
		Data: data,
	}
}

// Controller is Argo CD's application controller.
func Controller(namespace, name, image string, ready int32) *appsv1.StatefulSet {
	labels := map[string]string{"app.kubernetes.io/name": name}
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: appsv1.StatefulSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					ServiceAccountName: name,
					Containers:         []corev1.Container{{Name: "controller", Image: image}},
				},
			},
		},
		Status: appsv1.StatefulSetStatus{Replicas: ready, ReadyReplicas: ready},
	}
}

// Node is a node that takes Pods.
func Node(name, architecture string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: corev1.NodeStatus{
			NodeInfo: corev1.NodeSystemInfo{OperatingSystem: "linux", Architecture: architecture},
		},
	}
}
