// Package argo reads what Argo CD says of its Applications, and gives it objects.
package argo

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Root is the Application that all others come from.
const Root = "memcached-root"

// ApplicationKind is the kind of Applications.
var ApplicationKind = schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Application"}

// Application is what an Application says of itself.
type Application struct {
	Name     string
	Repo     string // that it is told to follow
	Target   string // revision that it is told to follow
	Path     string
	Sync     string // Synced, OutOfSync, Unknown
	Health   string // Healthy, Progressing, Degraded, Missing, ...
	Revision string // the commit that was compared
	Deleting bool

	// Messages are the errors that it tells of.
	Messages []string

	// Children are the Applications that it manages.
	Children []string
}

// Healthy tells whether the Application is synced to a commit and healthy.
func (a Application) Healthy(commit string) bool {
	return a.Sync == "Synced" && a.Health == "Healthy" && a.Revision == commit
}

func (a Application) String() string {
	state := fmt.Sprintf("%s is %s and %s", a.Name, orUnknown(a.Sync), orUnknown(a.Health))
	if len(a.Messages) > 0 {
		state += ": " + strings.Join(a.Messages, "; ")
	}
	return state
}

func orUnknown(s string) string {
	if s == "" {
		return "Unknown"
	}
	return s
}

// Read reads an Application, or returns nil if there is none.
func Read(ctx context.Context, c client.Reader, namespace, name string) (*Application, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(ApplicationKind)
	err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parse(object.Object, name), nil
}

func parse(object map[string]any, name string) *Application {
	a := &Application{
		Name:     name,
		Repo:     text(object, "spec", "source", "repoURL"),
		Target:   text(object, "spec", "source", "targetRevision"),
		Path:     text(object, "spec", "source", "path"),
		Sync:     text(object, "status", "sync", "status"),
		Health:   text(object, "status", "health", "status"),
		Revision: text(object, "status", "sync", "revision"),
		Deleting: text(object, "metadata", "deletionTimestamp") != "",
	}
	for _, condition := range list(object, "status", "conditions") {
		a.Messages = append(a.Messages, text(condition, "message"))
	}
	if message := text(object, "status", "operationState", "message"); message != "" &&
		text(object, "status", "operationState", "phase") != "Succeeded" {
		a.Messages = append(a.Messages, message)
	}
	for _, resource := range list(object, "status", "operationState", "syncResult", "resources") {
		if text(resource, "status") == "SyncFailed" {
			a.Messages = append(a.Messages, text(resource, "message"))
		}
	}
	for _, resource := range list(object, "status", "resources") {
		// Argo CD 3 keeps these out of the Application, unless it is told otherwise.
		if message := text(resource, "health", "message"); message != "" && text(resource, "health", "status") == "Degraded" {
			a.Messages = append(a.Messages, text(resource, "kind")+" "+text(resource, "name")+": "+message)
		}
		if text(resource, "kind") == ApplicationKind.Kind {
			a.Children = append(a.Children, text(resource, "name"))
		}
	}
	return a
}

func text(object map[string]any, fields ...string) string {
	value, _, _ := unstructured.NestedString(object, fields...)
	return value
}

// list returns the objects in a list, and none where there is no list.
func list(object map[string]any, fields ...string) (objects []map[string]any) {
	values, _, _ := unstructured.NestedSlice(object, fields...)
	for _, value := range values {
		if object, ok := value.(map[string]any); ok {
			objects = append(objects, object)
		}
	}
	return objects
}
