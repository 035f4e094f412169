package chain

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

const argoNamespace = "argocd"

// Applications of the tree, the root first.
const (
	RootApplication     = "memcached-root"
	OperatorApplication = "memcached-operator"
	SamplesApplication  = "memcached-samples"
)

// Application is what an Application says of itself.
type Application struct {
	Name     string
	Sync     string // Synced, OutOfSync, Unknown
	Health   string // Healthy, Progressing, Degraded, Missing, ...
	Revision string // the commit that was compared

	// Messages are the errors that it tells of.
	Messages []string
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

// bootstrap is what ApplyRoot applies: the settings of Argo CD, and the root Application of the way without OLM.
var bootstrap = []string{"gitops/bootstrap/argocd/existing", "gitops/bootstrap/direct"}

// ApplyRoot applies the bootstrap folders of the Git repository's work tree, once.
func (c *Chain) ApplyRoot(ctx context.Context) error {
	for _, folder := range bootstrap {
		if err := c.applyFolder(ctx, folder); err != nil {
			return err
		}
	}
	return nil
}

func (c *Chain) applyFolder(ctx context.Context, folder string) error {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).
		Run(filesys.MakeFsOnDisk(), filepath.Join(c.Git.Dir, folder))
	if err != nil {
		return err
	}
	for _, resource := range built.Resources() {
		content, err := resource.Map()
		if err != nil {
			return err
		}
		object := client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: content})
		if err := c.Client.Apply(ctx, object, client.FieldOwner("bootstrap"), client.ForceOwnership); err != nil {
			return fmt.Errorf("apply %s: %w", resource.CurId(), err)
		}
	}
	return nil
}

// Application reads an Application. One that is not there yet is neither synced nor healthy.
func (c *Chain) Application(ctx context.Context, name string) (Application, error) {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("argoproj.io/v1alpha1")
	object.SetKind("Application")
	err := c.Client.Get(ctx, client.ObjectKey{Namespace: argoNamespace, Name: name}, object)
	if apierrors.IsNotFound(err) {
		return Application{Name: name, Health: "Missing"}, nil
	}
	if err != nil {
		return Application{}, err
	}
	text := func(fields ...string) string {
		value, _, _ := unstructured.NestedString(object.Object, append([]string{"status"}, fields...)...)
		return value
	}
	return Application{
		Name:     name,
		Sync:     text("sync", "status"),
		Health:   text("health", "status"),
		Revision: text("sync", "revision"),
		Messages: messages(object),
	}, nil
}

// messages collects what an Application says of errors: its conditions, and the last sync where it failed.
func messages(application *unstructured.Unstructured) []string {
	var messages []string
	conditions, _, _ := unstructured.NestedSlice(application.Object, "status", "conditions")
	for _, condition := range conditions {
		if fields, ok := condition.(map[string]any); ok {
			messages = append(messages, fmt.Sprint(fields["message"]))
		}
	}
	operation, _, _ := unstructured.NestedMap(application.Object, "status", "operationState")
	if message, ok := operation["message"].(string); ok && operation["phase"] != "Succeeded" {
		messages = append(messages, message)
	}
	resources, _, _ := unstructured.NestedSlice(application.Object,
		"status", "operationState", "syncResult", "resources")
	for _, resource := range resources {
		if fields, ok := resource.(map[string]any); ok && fields["status"] == "SyncFailed" {
			messages = append(messages, fmt.Sprint(fields["message"]))
		}
	}
	return messages
}

// WaitHealthy waits until the Applications are synced to a commit and healthy. Update is told of each change.
func (c *Chain) WaitHealthy(
	ctx context.Context, commit string, timeout time.Duration, update func(string), names ...string,
) error {
	var waiting Application
	healthy := func(ctx context.Context) (bool, error) {
		for _, name := range names {
			application, err := c.Application(ctx, name)
			if err != nil {
				return false, err
			}
			if !application.Healthy(commit) {
				waiting = application
				update(application.String())
				return false, nil
			}
		}
		return true, nil
	}
	err := wait.PollUntilContextTimeout(ctx, 250*time.Millisecond, timeout, true, healthy)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("after %s, at commit %.7s: %s", timeout, commit, waiting)
	}
	return err
}
