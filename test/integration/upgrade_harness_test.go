package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// release is an operator as one release after another could be. What is not said is that of today.
type release struct {
	image         string
	agent         string
	architectures string
	revision      bool // one more of the Pod template
	clusterIs     clusterState
}

// clusterState is how the cluster looks to an operator that requests its API groups.
type clusterState int32

const (
	asItIs clusterState = iota
	openShift
	noAnswer
)

// start starts the operator of a release, instead of the one before it.
func (r release) start(w *world, at *proxy) {
	w.t.Helper()
	if w.operator != nil {
		w.stop()
	}
	w.binary = operatorBinary
	if r.revision {
		w.binary = nextBinary(w.t)
	}
	at.state.Store(int32(r.clusterIs))
	env := []string{"OPERAND_ARCHITECTURES=" + r.architectures}
	if r.image != "" {
		env = append(env, "RELATED_IMAGE_MEMCACHED="+r.image)
	}
	if r.agent != "" {
		env = append(env, "RELATED_IMAGE_AGENT="+r.agent)
	}
	w.startWith(env, "--watch-namespaces="+w.namespace)
}

// buildNext builds the operator with testdata/next_revision.go in it.
var buildNext = sync.OnceValues(func() (string, error) {
	root, err := filepath.Abs(repository)
	if err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(root, "operator/internal/render/next_revision.go"): filepath.Join(root, "test/integration/testdata/next_revision.go"),
	}})
	if err != nil {
		return "", err
	}
	binary := operatorBinary + "-next"
	if err := os.WriteFile(binary+".json", overlay, 0o600); err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-ldflags=-s -w", "-overlay", binary+".json", "-o", binary, "./operator/cmd/manager")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the next operator: %w\n%s", err, out)
	}
	return binary, nil
})

func nextBinary(t *testing.T) string {
	t.Helper()
	binary, err := buildNext()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// proxy stands between an operator and the API server, and changes what the operator learns of the API groups. It also
// lets something happen between what the operator has read and what it writes.
type proxy struct {
	kubeconfig   string
	state        atomic.Int32
	interruption atomic.Pointer[interruption]
}

// newUpgradeWorld makes a namespace, and a proxy by which its operators connect.
func newUpgradeWorld(t *testing.T) (*world, *proxy) {
	t.Helper()
	t.Parallel()
	at := newProxy(t)
	return emptyWorld(t, at.kubeconfig), at
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	operator, err := clientcmd.BuildConfigFromFlags("", operatorKubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(operator)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(operator.Host)
	if err != nil {
		t.Fatal(err)
	}
	at := &proxy{kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: transport, FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		state := clusterState(at.state.Load())
		switch {
		case r.URL.Path != "/apis" || state == asItIs:
			at.interruption.Load().serve(forward, w, r)
		case state == noAnswer:
			http.Error(w, "no answer", http.StatusServiceUnavailable)
		default:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"apps"},{"name":"security.openshift.io"}]}`)
		}
	}))
	t.Cleanup(server.CloseClientConnections)
	err = clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"proxy": {Server: server.URL}},
		Contexts:       map[string]*clientcmdapi.Context{"proxy": {Cluster: "proxy"}},
		CurrentContext: "proxy",
	}, at.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// waits waits until UpdatePending says what waits, or is False where that is nothing.
func (w *world) waits(name, what string) {
	w.t.Helper()
	last := &cachev1.Memcached{}
	w.Eventually(func() bool {
		get(w, name, last)
		pending := meta.FindStatusCondition(last.Status.Conditions, cachev1.ConditionUpdatePending)
		if what == "" {
			return pending != nil && pending.Status == "False"
		}
		return pending != nil && pending.Status == "True" && strings.HasPrefix(pending.Message, what+". ")
	}).Should(gomega.BeTrue(), "want %q to wait; last seen: %+v", what, last)
	assertContract(w.t, last)
}

// uids returns the uids of the Pods that are not being deleted.
func (w *world) uids(name string) []types.UID {
	w.t.Helper()
	var uids []types.UID
	for _, pod := range w.pods(name) {
		if pod.DeletionTimestamp.IsZero() {
			uids = append(uids, pod.UID)
		}
	}
	slices.Sort(uids)
	return uids
}

// rollouts is how often the Pods of a cache were made again, the first time among them.
func (w *world) rollouts(name string) int {
	w.t.Helper()
	list := &appsv1.ReplicaSetList{}
	err := cluster.List(w.ctx, list, client.InNamespace(w.namespace), client.MatchingLabels{"memcached_cr": name})
	w.Expect(err).NotTo(gomega.HaveOccurred())
	return len(list.Items)
}

// request sets the annotation that requests the pending update.
func (w *world) request(name, value string) {
	w.t.Helper()
	w.patch(&cachev1.Memcached{}, name, fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, cachev1.AnnotationUpdateRequested, value))
}
