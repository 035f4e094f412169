package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// apiServer is started by the first test that needs one, and stopped by TestMain.
var apiServer = struct {
	sync.Once
	env        *envtest.Environment
	config     *rest.Config
	kubeconfig string
	err        error
}{env: &envtest.Environment{}}

func TestMain(m *testing.M) {
	code := m.Run()
	if apiServer.config != nil {
		_ = apiServer.env.Stop()
		_ = os.Remove(apiServer.kubeconfig)
	}
	os.Exit(code)
}

// live is a real API server, with stand-ins for the controllers that these tests need.
type live struct {
	client.Client
	kubeconfig string
	writes     *atomic.Int64 // requests that changed something, this program's only
	cluster    *cluster
}

func newLive(t *testing.T) *live {
	t.Helper()
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		t.Fatal("KUBEBUILDER_ASSETS is not set: this test needs etcd and kube-apiserver. " +
			"`make test` builds them, sets it, and runs all tests.")
	}
	apiServer.Do(startAPIServer)
	if apiServer.err != nil {
		t.Fatal(apiServer.err)
	}
	kube, err := client.New(apiServer.config, client.Options{Scheme: scheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	l := &live{Client: kube, kubeconfig: apiServer.kubeconfig, writes: &atomic.Int64{}}
	counted := rest.CopyConfig(apiServer.config)
	counted.Wrap(func(next http.RoundTripper) http.RoundTripper { return counter{next, l.writes} })
	if l.cluster, err = connect(counted, "default"); err != nil {
		t.Fatal(err)
	}
	l.startControllers(t)
	t.Cleanup(func() { l.removeAll(t) })
	return l
}

func startAPIServer() {
	config, err := apiServer.env.Start()
	if err != nil {
		apiServer.err = err
		return
	}
	apiServer.config = config
	apiServer.kubeconfig = filepath.Join(os.TempDir(), "deploy-test-"+time.Now().Format("150405.000000"))
	apiServer.err = os.WriteFile(apiServer.kubeconfig, apiServer.env.KubeConfig, 0o600)
}

// counter counts what is really written: reads and dry runs are not.
type counter struct {
	next   http.RoundTripper
	writes *atomic.Int64
}

func (c counter) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet && r.URL.Query().Get("dryRun") == "" {
		c.writes.Add(1)
	}
	return c.next.RoundTrip(r)
}

// startControllers plays the part of the controller manager: Deployments come up, Namespaces go.
func (l *live) startControllers(t *testing.T) {
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context())) // clean-ups need them, too
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			l.bringUpDeployments(ctx)
			l.finishNamespaces(ctx)
			time.Sleep(50 * time.Millisecond)
		}
	}()
	t.Cleanup(func() { stop(); <-done })
}

func (l *live) bringUpDeployments(ctx context.Context) {
	var list appsv1.DeploymentList
	_ = l.List(ctx, &list)
	for _, d := range list.Items {
		if d.Status.ObservedGeneration == d.Generation || d.Annotations["test"] == "stuck" {
			continue
		}
		d.Status = appsv1.DeploymentStatus{
			ObservedGeneration: d.Generation,
			Replicas:           *d.Spec.Replicas, UpdatedReplicas: *d.Spec.Replicas,
			ReadyReplicas: *d.Spec.Replicas, AvailableReplicas: *d.Spec.Replicas,
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue},
				{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
			},
		}
		_ = l.Status().Update(ctx, &d)
	}
}

func (l *live) finishNamespaces(ctx context.Context) {
	var list corev1.NamespaceList
	_ = l.List(ctx, &list)
	for _, n := range list.Items {
		if n.DeletionTimestamp != nil {
			n.Spec.Finalizers = nil
			_ = l.SubResource("finalize").Update(ctx, &n)
		}
	}
}

// removeAll leaves the API server to the next test as it was.
func (l *live) removeAll(t *testing.T) {
	if _, report, code := l.run(t, "delete", "testdata/app", "--cascade", "--timeout=20s"); code != 0 {
		t.Errorf("clean-up: %+v", report)
	}
}

// deleteNow deletes an object and waits until it is gone; t.Context is over when it is called.
func (l *live) deleteNow(t *testing.T, o client.Object) {
	ctx := context.WithoutCancel(t.Context())
	_ = l.Delete(ctx, o)
	for range 200 {
		if err := l.Get(ctx, client.ObjectKeyFromObject(o), o); apierrors.IsNotFound(err) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("%s does not go away", o.GetName())
}

// document is what -o json prints.
type document struct {
	Objects []verdict `json:"objects"`
	Error   string    `json:"error"`
}

// actions maps each object to what became of it.
func (d document) actions() map[string]string {
	actions := map[string]string{}
	for _, v := range d.Objects {
		actions[v.Object] = v.Action
	}
	return actions
}

// run calls the program as its users do, with -o json; it also returns what went to standard error.
func (l *live) run(t *testing.T, args ...string) (stderr string, report document, code int) {
	t.Helper()
	var out, err bytes.Buffer
	args = append(args, "--kubeconfig", l.kubeconfig, "-o", "json")
	code = run(context.WithoutCancel(t.Context()), args, &out, &err)
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &report); err != nil {
			t.Fatalf("-o json printed no JSON: %v\n%s", err, out.String())
		}
	}
	return err.String(), report, code
}
