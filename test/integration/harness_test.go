package integration

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

// world is a namespace with its own operator.
type world struct {
	*gomega.WithT
	t         *testing.T
	ctx       context.Context
	namespace string
	operator  *exec.Cmd
	log       string

	recorder *history.Recorder
	began    time.Time // when the recorder was started
	allowed  []string  // rules

	// binary is the operator's program, kubeconfig is the file with which it connects, and flags are additional flags for
	// start.
	binary, kubeconfig string
	flags              []string
}

// newWorld creates a namespace, and starts an operator that has rights only in this namespace. Both end with the test.
// The test runs at the same time as others.
func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	w := emptyWorld(t, operatorKubeconfig)
	w.start()
	return w
}

// emptyWorld creates a namespace, and starts no operator.
func emptyWorld(t *testing.T, kubeconfig string) *world {
	t.Helper()
	w := &world{
		t: t, ctx: t.Context(), WithT: gomega.NewWithT(t),
		log: filepath.Join(t.TempDir(), "operator.log"), binary: operatorBinary, kubeconfig: kubeconfig,
	}
	w.SetDefaultEventuallyTimeout(patience)
	// Many tests run at a time. If each of them polled more often, the API server would be too busy for the operator's
	// requests.
	w.SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	w.namespace = w.newNamespace()
	w.record()
	t.Cleanup(w.end)
	return w
}

// newNamespace creates a namespace, and binds the role of operators that serve only some namespaces.
func (w *world) newNamespace() string {
	w.t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	w.Expect(cluster.Create(w.ctx, namespace)).To(gomega.Succeed())
	w.bindRole(namespace.Name)
	return namespace.Name
}

// bindRole binds the role of operators that serve only some namespaces in a namespace.
func (w *world) bindRole(namespace string) {
	w.t.Helper()
	w.Expect(cluster.Create(w.ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "memcached-operator"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "memcached-operator-manager-role"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: operatorUser}},
	})).To(gomega.Succeed())
}

// lets gives a new Role with these rules to the users, in the namespace.
func (w *world) lets(name string, users []string, rules ...rbacv1.PolicyRule) {
	w.t.Helper()
	key := metav1.ObjectMeta{Namespace: w.namespace, Name: name}
	w.Expect(cluster.Create(w.ctx, &rbacv1.Role{ObjectMeta: key, Rules: rules})).To(gomega.Succeed())
	binding := &rbacv1.RoleBinding{ObjectMeta: key, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name}}
	for _, user := range users {
		binding.Subjects = append(binding.Subjects, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user})
	}
	w.Expect(cluster.Create(w.ctx, binding)).To(gomega.Succeed())
}

// start starts an operator that serves the namespace of the world.
func (w *world) start() {
	w.t.Helper()
	w.startWith(nil, append([]string{"--watch-namespaces=" + w.namespace}, w.flags...)...)
}

// startWith starts an operator with the given environment and flags. Later flags win over earlier ones.
func (w *world) startWith(env []string, flags ...string) {
	w.t.Helper()
	log, err := os.OpenFile(w.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	flags = append([]string{"--metrics-bind-address=0", "--health-probe-bind-address=0"}, flags...)
	w.operator = exec.Command(w.binary, flags...)
	w.operator.Env = append([]string{
		"KUBECONFIG=" + w.kubeconfig, "HOME=" + w.t.TempDir(),
		"KUBE_CACHE_MUTATION_DETECTOR=true", // It panics if a cached object is modified.
	}, env...)
	w.operator.Stdout, w.operator.Stderr = log, log
	w.Expect(w.operator.Start()).To(gomega.Succeed())
}

// stop ends the operator as the kubelet does, and waits for its end.
func (w *world) stop() {
	w.t.Helper()
	_ = w.operator.Process.Signal(syscall.SIGTERM)
	err := w.operator.Wait()
	w.operator = nil
	w.Expect(err).NotTo(gomega.HaveOccurred(), "the operator ends in order after a signal")
}

func (w *world) end() {
	defer func() { // This runs even if the operator did not end properly.
		log, _ := os.ReadFile(w.log)
		if strings.Contains(string(log), "panic") {
			w.t.Error("the operator panicked")
		}
		if w.t.Failed() {
			w.t.Logf("the operator's log:\n%s", log)
			w.logObjects()
		}
	}()
	if w.operator != nil {
		w.stop()
	}
	w.judge()
}

// logObjects logs the Memcacheds and their managed objects.
func (w *world) logObjects() {
	kinds := map[client.ObjectList]string{
		&cachev1.MemcachedList{}: "Memcached", &appsv1.DeploymentList{}: "Deployment", &corev1.ServiceList{}: "Service",
	}
	for list, kind := range kinds {
		err := cluster.List(context.WithoutCancel(w.ctx), list, client.InNamespace(w.namespace))
		w.t.Logf("each %s (%v): %+v", kind, err, list)
	}
	w.t.Logf("the operator's requests: %v", audit.requestsOf(w.t, w.namespace))
}

// memcached creates a Memcached.
func (w *world) memcached(name string, size int32) *cachev1.Memcached {
	w.t.Helper()
	return w.create(name, cachev1.MemcachedSpec{Size: &size})
}

func (w *world) create(name string, spec cachev1.MemcachedSpec) *cachev1.Memcached {
	w.t.Helper()
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}, Spec: spec}
	w.Expect(cluster.Create(w.ctx, mc)).To(gomega.Succeed())
	return mc
}

// get reads an object of the namespace into the given one.
func get[T client.Object](w *world, name string, object T) T {
	w.t.Helper()
	w.Expect(cluster.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, object)).To(gomega.Succeed())
	return object
}

// eventually waits until the object fulfils the condition, and returns it.
func eventually[T client.Object](w *world, name string, object T, condition func(T) bool) T {
	w.t.Helper()
	w.Eventually(func() bool {
		err := cluster.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, object)
		return err == nil && condition(object)
	}).Should(gomega.BeTrue(), "last seen: %+v", object)
	return object
}

// reason waits until the condition Ready has this reason for the current spec.
func (w *world) reason(name, reason string) *cachev1.Memcached {
	w.t.Helper()
	mc := eventually(w, name, &cachev1.Memcached{}, func(mc *cachev1.Memcached) bool {
		ready := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionReady)
		return ready != nil && ready.Reason == reason && mc.Status.ObservedGeneration == mc.Generation
	})
	assertContract(w.t, mc)
	return mc
}

// ready makes a cache ready: it waits for the Pods and makes them ready, instead of the kubelet.
func (w *world) ready(name string) *cachev1.Memcached {
	w.t.Helper()
	w.Eventually(func() bool {
		w.run(name)
		mc := get(w, name, &cachev1.Memcached{})
		return meta.IsStatusConditionTrue(mc.Status.Conditions, cachev1.ConditionReady) &&
			mc.Status.ObservedGeneration == mc.Generation
	}).Should(gomega.BeTrue())
	mc := get(w, name, &cachev1.Memcached{})
	assertContract(w.t, mc)
	return mc
}

func (w *world) pods(name string) []corev1.Pod {
	w.t.Helper()
	list := &corev1.PodList{}
	err := cluster.List(w.ctx, list, client.InNamespace(w.namespace), client.MatchingLabels{"app": "memcached", "memcached_cr": name})
	w.Expect(err).NotTo(gomega.HaveOccurred())
	return list.Items
}

// run makes the Pods of a cache ready, and returns them.
func (w *world) run(name string) []corev1.Pod {
	w.t.Helper()
	pods := w.pods(name)
	for i := range pods {
		makeReady(w, &pods[i])
	}
	return pods
}

// hasReady reports whether a Pod has the condition Ready, whatever its status.
func hasReady(pod corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady })
}

func makeReady(w *world, pod *corev1.Pod) {
	if hasReady(*pod) {
		return
	}
	now := metav1.Now()
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = append(pod.Status.Conditions,
		corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: now})
	_ = cluster.Status().Update(w.ctx, pod) // A deleted Pod need not be ready.
}

func (w *world) deployment(name string) *appsv1.Deployment {
	w.t.Helper()
	return get(w, name, &appsv1.Deployment{})
}

func podNames(pods []corev1.Pod) []string {
	var podNames []string
	for _, pod := range pods {
		if pod.DeletionTimestamp.IsZero() {
			podNames = append(podNames, pod.Name)
		}
	}
	slices.Sort(podNames)
	return podNames
}
