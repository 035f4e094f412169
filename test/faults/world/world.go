// Package world has the objects on which the steps of one run act: a namespace with Memcacheds, and the operators that
// serve it, each behind a separate proxy.
package world

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/install"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/environment"
)

// Programs are the paths of operators to run.
type Programs struct {
	Operator string // the operator of this commit, or a mutant of it
	Next     string // the operator of a later release
}

// World is the namespace of a run.
type World struct {
	*environment.Environment

	Namespace string
	Programs  Programs
	Dir       string // for logs and kubeconfigs

	// Random is for random values that need not be in the plan, such as names and the content of Secrets. Only steps may
	// use it.
	Random *rand.Rand

	// Note is called with a text for each event that is no step of the plan.
	Note func(text string)

	// Delayed is called after something held up an operator, its watches or its requests.
	Delayed func(what string, began time.Time)

	effects effects
	agents  *agents // nil without PlayAgents

	undo []func(context.Context) error // Steps add functions to it, one after the other.

	specs map[string][]map[string]any // see Remember

	mu        sync.Mutex
	operators []*Operator // the first is the regular one; faults add others
	next      Launch

	failing sync.Mutex
	failed  []error // in the background
}

// New creates the namespace of a run, and binds the operator's role in it. It starts no operator.
func New(ctx context.Context, e *environment.Environment, programs Programs, dir string, seed uint64) (*World, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	noted := *e
	noted.Client = noting(e.Client)
	w := &World{
		Environment: &noted, Programs: programs, Dir: dir, Note: func(string) {}, Delayed: func(string, time.Time) {},
		next:   Launch{Program: programs.Operator, Defaults: Defaults{Image: e.Images.Memcached, Agent: e.Images.Agent}},
		Random: rand.New(rand.NewPCG(seed, 2)), //nolint:gosec // the same seed should give the same keys
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: fmt.Sprintf("seed-%d-", seed)}}
	if err := e.Client.Create(ctx, namespace); err != nil {
		return nil, err
	}
	w.Namespace = namespace.Name
	return w, w.BindRole(ctx)
}

// Monitor makes the operators that start from now on serve metrics and profiles.
func (w *World) Monitor() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next.Monitored = true
}

// RoleBinding returns a RoleBinding that gives the operator its role in the namespace.
func (w *World) RoleBinding() *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "memcached-operator"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: install.Role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: install.User}},
	}
}

// BindRole creates that RoleBinding.
func (w *World) BindRole(ctx context.Context) error { return w.Client.Create(ctx, w.RoleBinding()) }

// Memcached reads the Memcached with a name from the API server.
func (w *World) Memcached(ctx context.Context, name string) (*cachev1.Memcached, error) {
	mc := &cachev1.Memcached{}
	return mc, w.Client.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: name}, mc)
}

// Later adds a function that is called when the faults end, or the run ends.
func (w *World) Later(undo func(context.Context) error) { w.undo = append(w.undo, undo) }

// During calls undo after a time, at the latest when the faults end.
func (w *World) During(d time.Duration, undo func()) {
	once := sync.OnceFunc(undo)
	timer := time.AfterFunc(d, once)
	w.Later(func(context.Context) error {
		timer.Stop()
		once() // It waits if the timer has just called it.
		return nil
	})
}

// Fail ends the run with an error, because the campaign itself failed in the background.
func (w *World) Fail(err error) {
	w.failing.Lock()
	defer w.failing.Unlock()
	w.failed = append(w.failed, err)
}

// EndFaults calls the functions that undo faults, the last one first. In the end, only one operator runs, in the
// version of this commit.
func (w *World) EndFaults(ctx context.Context) error {
	w.release()
	err := w.undoAll(ctx)
	w.KillOthers()
	w.mu.Lock()
	defer w.mu.Unlock()
	first := w.operators[0]
	w.next.Program = w.Programs.Operator
	if !first.runs(w.next) {
		err = errors.Join(err, first.restart(func(launch *Launch) { *launch = w.next }))
	}
	w.failing.Lock()
	defer w.failing.Unlock()
	return errors.Join(append(w.failed, err)...)
}

func (w *World) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.operators {
		o.Release()
	}
}

func (w *World) undoAll(ctx context.Context) error {
	var errs []error
	for len(w.undo) > 0 {
		last := len(w.undo) - 1
		undo := w.undo[last]
		w.undo = w.undo[:last]
		errs = append(errs, undo(ctx))
	}
	return errors.Join(errs...)
}

// poll is the time between two checks of Await.
const poll = 50 * time.Millisecond

// Sleep waits for a time, or until the context ends.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Await waits until a condition holds. If the condition returns an error, Await tries again. After the timeout, it
// returns the last error.
func Await(ctx context.Context, timeout time.Duration, holds func(context.Context) (bool, error)) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, poll, timeout, true, func(ctx context.Context) (bool, error) {
		var done bool
		done, last = holds(ctx)
		return done && last == nil, nil
	})
	return errors.Join(err, last)
}

// End undoes all faults, kills all operators and deletes the namespace. It does not wait until the namespace is empty.
func (w *World) End(ctx context.Context) error {
	err := w.undoAll(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, operator := range w.operators {
		operator.remove()
	}
	if w.agents != nil {
		w.agents.Stop()
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace}}
	return errors.Join(err, w.Client.Delete(ctx, namespace))
}
