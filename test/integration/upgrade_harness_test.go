package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/proxy"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// release describes an operator of a possible release. A field that is not set means the current value.
type release struct {
	image         string
	agent         string
	architectures string
	revision      bool // whether it has one more revision of the Pod template
	clusterIs     clusterState
}

// clusterState is the answer that an operator gets when it requests the API groups of the cluster.
type clusterState int

const (
	asItIs clusterState = iota
	openShift
	noAnswer
)

// start starts the operator of a release, and stops the operator before it.
func (r release) start(w *world, at *apiServer) {
	w.t.Helper()
	if w.operator != nil {
		w.stop()
	}
	w.binary = operatorBinary
	if r.revision {
		w.binary = nextBinary(w.t)
	}
	at.looks(r.clusterIs)
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

// apiServer is the API server as an operator reaches it, through a proxy.
type apiServer struct {
	*proxy.Proxy

	groups *proxy.Rule // if set, changes the answer about the API groups
}

// newUpgradeWorld creates a namespace, and a proxy through which its operators connect.
func newUpgradeWorld(t *testing.T) (*world, *apiServer) {
	t.Helper()
	t.Parallel()
	operator, err := clientcmd.BuildConfigFromFlags("", operatorKubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	p, err := proxy.Start(operator)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := p.Kubeconfig(kubeconfig); err != nil {
		t.Fatal(err)
	}
	return emptyWorld(t, kubeconfig), &apiServer{Proxy: p}
}

// looks changes the answer about the API groups.
func (a *apiServer) looks(state clusterState) {
	if a.groups != nil {
		a.Remove(a.groups)
	}
	a.groups = &proxy.Rule{
		Matches: func(r proxy.Request) bool { return r.Resource == "" && state != asItIs },
		Fault: func(c proxy.Call) {
			switch {
			case c.R.URL.Path != "/apis":
				c.Next.ServeHTTP(c.W, c.R)
			case state == noAnswer:
				proxy.Refuse(http.StatusServiceUnavailable, 0)(c)
			default:
				c.W.Header().Set("Content-Type", "application/json")
				fmt.Fprint(c.W, `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"apps"},{"name":"security.openshift.io"}]}`)
			}
		},
	}
	a.Add(a.groups)
}

// during calls before once, right before the API server gets a request of the operator, and after, right before the
// operator gets the answer. It returns the status code of the answer. request is a text like "patch deployments/cache",
// and parameter is a text that the query of the request must contain.
func (a *apiServer) during(request, parameter string, before, after func()) (code <-chan int) {
	answers := make(chan int, 1)
	a.Add(&proxy.Rule{
		Matches: func(r proxy.Request) bool {
			return r.Verb+" "+path.Join(r.Resource, r.Name, r.Subresource) == request && strings.Contains(r.Query, parameter)
		},
		Times: 1,
		Fault: func(c proxy.Call) {
			before()
			answer := c.CarryOut()
			after()
			answers <- answer.Code()
			answer.SendTo(c.W)
		},
	})
	return answers
}

// waits waits until the condition UpdatePending says that this update is pending. If what is empty, waits waits until
// the condition is False.
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

// rollouts returns how many rollouts a cache has had, including its creation.
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
