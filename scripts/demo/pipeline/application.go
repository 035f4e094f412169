package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/test/client/clientpod"
)

// Applications and namespaces of the tree.
const (
	RootApplication     = "memcached-root"
	OperatorApplication = "memcached-operator"
	SamplesApplication  = "memcached-samples"
	OperatorNamespace   = "memcached-operator-system"
	SamplesNamespace    = "memcached-samples"
)

var applicationKind = schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Application"}

// Application is the state of an Application.
type Application struct {
	Name     string
	Source   string // repository, revision and path that the Application follows
	Sync     string // Synced, OutOfSync or Unknown
	Health   string // Healthy, Progressing, Degraded, Missing, ...
	Revision string // the commit with which Argo CD compared the cluster
	Deleting bool
	Failed   bool     // Argo CD cannot compare it, or its last sync failed
	Messages []string // errors in its status
	Children []string // names of the Applications that it manages
}

// Healthy reports whether the Application is synced to a commit and healthy.
func (a Application) Healthy(commit string) bool {
	return a.Sync == "Synced" && a.Health == "Healthy" && a.Revision == commit
}

func (a Application) String() string {
	state := fmt.Sprintf("%s is %s and %s", a.Name, cmp.Or(a.Sync, "Unknown"), cmp.Or(a.Health, "Unknown"))
	if len(a.Messages) > 0 {
		state += ": " + strings.Join(a.Messages, "; ")
	}
	return state
}

// Application reads an Application. An Application that does not exist is Missing.
func (p *Pipeline) Application(ctx context.Context, name string) (Application, error) {
	o := object(applicationKind, p.ArgoCDNamespace, name)
	err := p.Client.Get(ctx, client.ObjectKeyFromObject(o), o)
	if apierrors.IsNotFound(err) {
		return Application{Name: name, Health: "Missing"}, nil
	}
	if err != nil {
		return Application{}, err
	}
	return parse(o), nil
}

// Applications returns the root Application and the Applications that it manages.
func (p *Pipeline) Applications(ctx context.Context) ([]Application, error) {
	root, err := p.Application(ctx, RootApplication)
	all := []Application{root}
	for _, name := range root.Children {
		child, err := p.Application(ctx, name)
		if err != nil {
			return nil, err
		}
		all = append(all, child)
	}
	return all, err
}

// Source returns the source of the root Application, as one text.
func (t *Target) Source() string { return source(t.Repo, t.Revision, t.Method.Folder()) }

func source(repo, revision, path string) string {
	return fmt.Sprintf("%s of %s at %s", path, repo, revision)
}

func parse(o *unstructured.Unstructured) Application {
	operation := func(field string) string { return text(o.Object, "status", "operationState", field) }
	spec := func(field string) string { return text(o.Object, "spec", "source", field) }
	a := Application{
		Name:     o.GetName(),
		Source:   source(spec("repoURL"), spec("targetRevision"), spec("path")),
		Sync:     text(o.Object, "status", "sync", "status"),
		Health:   text(o.Object, "status", "health", "status"),
		Revision: text(o.Object, "status", "sync", "revision"),
		Deleting: o.GetDeletionTimestamp() != nil,
		Failed:   operation("phase") == "Failed" || operation("phase") == "Error",
	}
	for _, condition := range list(o.Object, "status", "conditions") {
		a.Messages = append(a.Messages, text(condition, "message"))
		a.Failed = a.Failed || strings.HasSuffix(text(condition, "type"), "Error")
	}
	if message := operation("message"); message != "" && operation("phase") != "Succeeded" {
		a.Messages = append(a.Messages, message)
	}
	for _, resource := range list(o.Object, "status", "operationState", "syncResult", "resources") {
		if text(resource, "status") == "SyncFailed" {
			a.Messages = append(a.Messages, text(resource, "message"))
		}
	}
	for _, resource := range list(o.Object, "status", "resources") {
		// Argo CD 3 has these messages only if its settings require them.
		if message := text(resource, "health", "message"); message != "" && text(resource, "health", "status") == "Degraded" {
			a.Messages = append(a.Messages, text(resource, "kind")+" "+text(resource, "name")+": "+message)
		}
		if text(resource, "kind") == applicationKind.Kind {
			a.Children = append(a.Children, text(resource, "name"))
		}
	}
	return a
}

func text(object map[string]any, fields ...string) string {
	value, _, _ := unstructured.NestedString(object, fields...)
	return value
}

func list(object map[string]any, fields ...string) (objects []map[string]any) {
	values, _, _ := unstructured.NestedSlice(object, fields...)
	for _, value := range values {
		if object, ok := value.(map[string]any); ok {
			objects = append(objects, object)
		}
	}
	return objects
}

// rootPatience is how long the root Application may report an error before the wait ends. A repository that does not
// answer often answers a moment later.
const rootPatience = 20 * time.Second

// waiter waits for the root Application and the Applications that it manages.
type waiter struct {
	*Pipeline
	commit    string
	last      string // what the waiter last waited for
	update    func(string)
	refreshed map[string]bool
	rootWorks time.Time // when the root Application last reported no error
}

// WaitHealthy waits until the root Application and the Applications that it manages are synced to the commit and
// healthy. It calls update with a text that says what it waits for. An error of the root Application ends the wait
// early.
func (p *Pipeline) WaitHealthy(ctx context.Context, commit string, timeout time.Duration, update func(string)) error {
	w := &waiter{Pipeline: p, commit: commit, update: update, refreshed: map[string]bool{}, rootWorks: time.Now()}
	err := wait.PollUntilContextTimeout(ctx, 250*time.Millisecond, timeout, true, w.poll)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return fmt.Errorf("after %s (--timeout), at commit %.7s: %s (docs/gitops.md, When something is wrong)",
			timeout, commit, w.last)
	}
	return err
}

func (w *waiter) poll(ctx context.Context) (done bool, err error) {
	applications, err := w.Applications(ctx)
	unhealthy := slices.DeleteFunc(applications, func(a Application) bool { return a.Healthy(w.commit) })
	switch {
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return false, err
	case ctx.Err() != nil: // w.last says more than this error.
		return false, nil
	case err != nil: // The API server may be restarting.
		w.last = err.Error()
	case len(unhealthy) == 0:
		return true, nil
	default:
		most := slices.MaxFunc(unhealthy, func(a, b Application) int { return cmp.Compare(specificity(a), specificity(b)) })
		w.last = most.String() + w.trouble(ctx)
		w.refresh(ctx, unhealthy)
		if root := unhealthy[0]; root.Name != RootApplication || !root.Failed {
			w.rootWorks = time.Now()
		} else if time.Since(w.rootWorks) > rootPatience {
			return false, fmt.Errorf("%s (docs/gitops.md, When something is wrong)", root)
		}
	}
	w.update(w.last)
	return false, nil
}

// specificity returns how much an Application shows about a problem. The highest is the root if it failed, then a
// managed Application with an error, then a managed Application that exists. A root that has not failed comes last,
// because it only lists what it waits for.
func specificity(a Application) int {
	isRoot := a.Name == RootApplication
	switch {
	case isRoot && a.Failed:
		return 3
	case !isRoot && len(a.Messages) > 0:
		return 2
	case !isRoot && a.Sync != "":
		return 1
	}
	return 0
}

// refresh makes Argo CD look for the commit, once for each Application, because by default Argo CD looks for commits
// only every few minutes.
func (w *waiter) refresh(ctx context.Context, unhealthy []Application) {
	const refresh = `{"metadata":{"annotations":{"argocd.argoproj.io/refresh":"normal"}}}`
	for _, a := range unhealthy {
		if a.Revision != "" && a.Revision != w.commit && !w.refreshed[a.Name] {
			o := object(applicationKind, w.ArgoCDNamespace, a.Name)
			w.refreshed[a.Name] = w.Client.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(refresh))) == nil
		}
	}
}

// trouble returns the reason why a Pod does not run, such as an image that cannot be pulled.
func (w *waiter) trouble(ctx context.Context) string {
	for _, namespace := range []string{OperatorNamespace, SamplesNamespace} {
		if reasons := clientpod.Waiting(ctx, w.Client, client.InNamespace(namespace)); len(reasons) > 0 {
			return "; Pod " + reasons[0]
		}
	}
	return ""
}
