package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// user runs the plugin as a Kubernetes user who has the Role of docs/kubectl-memcached.md in the namespace of a world.
type user struct {
	*world
	program, name string
}

func newUser(w *world) user {
	w.t.Helper()
	u := user{world: w, program: filepath.Join(w.t.TempDir(), "kubectl-memcached"), name: "user-of-" + w.namespace}
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", u.program, repository+"/operator/cmd/kubectl-memcached")
	out, err := build.CombinedOutput()
	w.Expect(err).NotTo(gomega.HaveOccurred(), string(out))
	role := &rbacv1.ClusterRole{}
	text := page.Find(w.t, page.Read(w.t, repository+"/docs/kubectl-memcached.md"), "(?s)```yaml\n(apiVersion: rbac.*?)```")
	w.Expect(yaml.UnmarshalStrict([]byte(text), role)).To(gomega.Succeed())
	if err := cluster.Create(w.ctx, role); !apierrors.IsAlreadyExists(err) {
		w.Expect(err).NotTo(gomega.HaveOccurred())
	}
	w.Expect(cluster.Create(w.ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "user"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: u.name}},
	})).To(gomega.Succeed())
	w.Eventually(func() error { // The API server learns of new rights with a delay.
		_, err := u.run("", "status")
		return err
	}).Should(gomega.Succeed())
	return u
}

// run runs a command of the plugin with this standard input.
func (u user) run(input string, arguments ...string) (string, error) {
	u.t.Helper()
	arguments = append(arguments, "--kubeconfig="+controllersKubeconfig, "--as="+u.name, "--namespace="+u.namespace)
	cmd := exec.CommandContext(u.ctx, u.program, arguments...)
	cmd.Env, cmd.Stdin = []string{"HOME=" + u.t.TempDir()}, strings.NewReader(input)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	u.t.Logf("$ kubectl memcached %s\n%s", strings.Join(arguments[:len(arguments)-3], " "), out.String())
	return out.String(), err
}

// prints runs a command, and asserts that it succeeds and prints all these texts.
func (u user) prints(wanted []string, arguments ...string) {
	u.t.Helper()
	out, err := u.run("", arguments...)
	u.Expect(err).NotTo(gomega.HaveOccurred(), out)
	for _, text := range wanted {
		u.Expect(out).To(gomega.ContainSubstring(text))
	}
}

// manifest writes a manifest with a spec.
func (u user) manifest(spec string) string {
	u.t.Helper()
	path := filepath.Join(u.t.TempDir(), "shop.yaml")
	text := "apiVersion: cache.example.com/v1\nkind: Memcached\nmetadata: {name: shop}\nspec: " + spec + "\n"
	u.Expect(os.WriteFile(path, []byte(text), 0o600)).To(gomega.Succeed())
	return path
}

func (u user) apply(manager, spec string) {
	u.t.Helper()
	object := &unstructured.Unstructured{}
	content, err := os.ReadFile(u.manifest(spec))
	u.Expect(err).NotTo(gomega.HaveOccurred())
	u.Expect(yaml.Unmarshal(content, object)).To(gomega.Succeed())
	object.SetNamespace(u.namespace)
	u.Expect(cluster.Apply(u.ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(manager))).
		To(gomega.Succeed())
}

func TestThePluginShowsAndOperatesACacheWithTheRoleOfTheDocs(t *testing.T) {
	w := newWorld(t)
	u := newUser(w)
	u.apply("ci", "{size: 2, memory: 128Mi}")
	w.ready("shop")
	pods := podNames(w.pods("shop"))
	u.prints(append(pods, "Ready (AllPodsReady)", "2 of 2 Pods ready", "shop."+w.namespace+".svc:11211"), "status", "shop")
	u.prints([]string{"NAME", "shop", "AllPodsReady", "2/2"}, "status")
	u.prints([]string{"Ready is True (AllPodsReady)"}, "why", "shop")

	var status struct {
		Kind, State string
		Servers     []struct{ Pod, Version string }
	}
	out, err := u.run("", "status", "shop", "-o", "json")
	w.Expect(err).NotTo(gomega.HaveOccurred())
	w.Expect(json.Unmarshal([]byte(out), &status)).To(gomega.Succeed())
	w.Expect(status.Kind + status.State).To(gomega.Equal("CacheStatusReady"))
	w.Expect(status.Servers).To(gomega.HaveLen(2))

	before := get(w, "shop", &cachev1.Memcached{}).ResourceVersion
	u.prints([]string{"No managed object changes", "none is replaced"}, "diff", "-f", u.manifest("{size: 2, memory: 128Mi}"))
	u.prints([]string{"all are replaced", "all keys are lost", "--memory-limit=128", "--memory-limit=64"},
		"diff", "-f", u.manifest("{size: 2}"))
	u.prints([]string{"spec.replicas", "+ 3", "none is replaced"}, "diff", "-f", u.manifest("{size: 3, memory: 128Mi}"))
	out, err = u.run("", "diff", "-f", u.manifest("{size: 2000}"))
	w.Expect(err).To(gomega.HaveOccurred())
	w.Expect(out).To(gomega.ContainSubstring("spec.size"))
	out, err = u.run("", "diff", "-f", u.manifest("{size: 2000}"), "-f", u.manifest("{size: 0, memory: 128Mi}"))
	w.Expect(err).To(gomega.HaveOccurred())
	w.Expect(out).To(gomega.And(gomega.ContainSubstring("Pods: all are deleted"), gomega.ContainSubstring("should be less than or equal to")))
	u.prints([]string{"<h2>Causes</h2>", "<h2>State and slots</h2>", "2 of 2 Pods ready", "<li>The memcached servers: "}, "report", "shop", "-o", "-")
	w.Expect(get(w, "shop", &cachev1.Memcached{}).ResourceVersion).To(gomega.Equal(before), "a diff changes nothing")

	u.prints([]string{"paused (server dry run)"}, "pause", "shop", "--dry-run")
	out, err = u.run("n\n", "pause", "shop")
	w.Expect(err).To(gomega.HaveOccurred(), out)
	w.Expect(get(w, "shop", &cachev1.Memcached{}).Spec.Suspend).To(gomega.BeFalse())
	u.prints([]string{"memcached.cache.example.com/shop paused"}, "pause", "shop", "--yes")
	w.Expect(get(w, "shop", &cachev1.Memcached{}).Spec.Suspend).To(gomega.BeTrue())
	u.prints([]string{"is paused already"}, "pause", "shop")
	out, err = u.run("", "restart", "shop", "--yes")
	w.Expect(err).To(gomega.HaveOccurred())
	w.Expect(out).To(gomega.ContainSubstring("run kubectl memcached resume shop -n " + w.namespace + " first"))
	u.prints([]string{"memcached.cache.example.com/shop resumed"}, "resume", "shop", "-y")
	w.Expect(get(w, "shop", &cachev1.Memcached{}).Spec.Suspend).To(gomega.BeFalse())

	u.prints([]string{"restarted (server dry run)"}, "restart", "shop", "--dry-run=server")
	out, err = u.run("y\n", "restart", "shop")
	w.Expect(err).NotTo(gomega.HaveOccurred())
	w.Expect(out).To(gomega.ContainSubstring("all keys are lost. Continue? [y/N]"))
	restarted := get(w, "shop", &appsv1.Deployment{}).Spec.Template.Annotations
	w.Expect(restarted).To(gomega.HaveKey("kubectl.kubernetes.io/restartedAt"))
	w.Eventually(func() string {
		out, _ := u.run("", "status", "shop")
		return out
	}).Should(gomega.And(gomega.ContainSubstring("Rollout"), gomega.ContainSubstring("up to date")))
}

func TestThePluginShowsTheSlotsOfACacheAndThatOfAKey(t *testing.T) {
	w := newSlotWorld(t)
	u := newUser(w.world)
	u.prints([]string{"all are created", "Service shop-slots: Created", "PodDisruptionBudget shop: Created"},
		"diff", "-f", u.manifest("{size: 3, slots: {clientHash: Ketama}}"))
	mc := w.memcachedWithSlots("shop", 3, cachev1.SlotsDNS, func(s *cachev1.MemcachedSpec) { s.Slots.ClientHash = cachev1.HashKetama })
	wanted := []string{"Ready (AllPodsReady)", "SLOT"}
	for _, slot := range mc.Status.Slots {
		wanted = append(wanted, slot.Name+" ", slot.Pod)
	}
	u.prints(wanted, "status", "shop")
	u.prints([]string{"user:7", "shop-", "Ketama", "Serving"}, "owner", "user:7")
	u.prints([]string{`"hash": "Rendezvous"`}, "owner", "user:7", "--cache=shop", "--hash=rendezvous", "-o", "json")
	u.prints([]string{"handed over"}, "diff", "-f", u.manifest("{size: 3, slots: {clientHash: Ketama}, memory: 128Mi}"))
	u.prints([]string{"moved", "one at a time"}, "diff", "-f", u.manifest("{size: 5, slots: {clientHash: Ketama}}"))

	// After kubectl apply without --server-side, the plugin compares with the annotation of the last applied
	// configuration.
	mc = get(w.world, "shop", &cachev1.Memcached{})
	mc.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": `{"apiVersion":"cache.example.com/v1",` +
		`"kind":"Memcached","metadata":{"name":"shop"},"spec":{"size":3,"threads":2,"slots":{"clientHash":"Ketama"}}}`}
	mc.Spec.Threads = new(int32(2))
	w.Expect(cluster.Update(w.ctx, mc)).To(gomega.Succeed())
	w.served("shop")
	u.prints([]string{"spec.threads", "- 2", "handed over"}, "diff", "-f", u.manifest("{size: 3, slots: {clientHash: Ketama}}"))
}

func TestThePluginMovesAndUpdatesACacheWithTheRoleOfTheDocs(t *testing.T) {
	w := emptyWorld(t, operatorKubeconfig) // No operator runs here, because it would replace the conditions.
	u := newUser(w)
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "shop"}}
	mc.Spec.Slots = &cachev1.Slots{ClientHash: cachev1.HashKetama}
	mc.Spec.Bootstrap = &cachev1.Bootstrap{From: cachev1.BootstrapSource{Servers: []string{"old.team.svc:11211"}}}
	w.Expect(cluster.Create(w.ctx, mc)).To(gomega.Succeed())
	conditions := func(bootstrapped string) {
		mc.Status.ObservedGeneration = mc.Generation
		mc.Status.Conditions = []metav1.Condition{{
			Type: cachev1.ConditionBootstrapped, Status: metav1.ConditionFalse, Reason: bootstrapped, LastTransitionTime: metav1.Now(),
		}, {
			Type: cachev1.ConditionUpdatePending, Status: metav1.ConditionTrue, Reason: cachev1.ReasonDefaultsDiffer,
			Message: "image a:1 -> a:2", LastTransitionTime: metav1.Now(),
		}}
		w.Expect(cluster.Status().Update(w.ctx, mc)).To(gomega.Succeed())
	}
	conditions(cachev1.ReasonBootstrapCopying)
	out, err := u.run("", "cutover", "shop", "--yes")
	w.Expect(err).To(gomega.HaveOccurred(), "not all keys are copied")
	w.Expect(out).To(gomega.ContainSubstring("wait memcached/shop"))
	conditions(cachev1.ReasonBootstrapFollowing)
	u.prints([]string{"cuts over (server dry run)"}, "cutover", "shop", "--dry-run=server")
	w.Expect(get(w, "shop", &cachev1.Memcached{}).Spec.Bootstrap.Mode).To(gomega.Equal(cachev1.BootstrapFollow))
	u.prints([]string{"cuts over", "wait memcached/shop"}, "cutover", "shop", "--yes")
	w.Expect(get(w, "shop", &cachev1.Memcached{}).Spec.Bootstrap.Mode).To(gomega.Equal(cachev1.BootstrapCutOver))

	out, err = u.run("y\n", "update", "shop")
	w.Expect(err).NotTo(gomega.HaveOccurred())
	w.Expect(out).To(gomega.ContainSubstring("image a:1 -> a:2.\nAll Pods of"))
	w.Expect(get(w, "shop", &cachev1.Memcached{}).Annotations).To(gomega.HaveKey(cachev1.AnnotationUpdateRequested))
}

func TestThePluginNamesWhatTheUserHasNoRightFor(t *testing.T) {
	w := emptyWorld(t, operatorKubeconfig)
	u := newUser(w)
	out, err := u.run("", "status", "shop")
	w.Expect(err).To(gomega.HaveOccurred())
	w.Expect(out).To(gomega.ContainSubstring("list all by kubectl memcached status -A"))
	w.memcached("shop", 1)
	u.prints([]string{"Unknown", "The operator has written no status"}, "status", "shop")
	u.prints([]string{"see whether the operator runs"}, "why", "shop")
	out, err = u.run("", "status", "-A")
	w.Expect(err).To(gomega.HaveOccurred(), "the role is bound in one namespace")
	w.Expect(out).To(gomega.And(gomega.ContainSubstring("at the cluster scope"), gomega.ContainSubstring("-n NAMESPACE instead of -A"),
		gomega.ContainSubstring("docs/kubectl-memcached.md#rights has the role")))
	everywhere := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: u.name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "memcached-user"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: u.name}},
	}
	w.Expect(cluster.Create(w.ctx, everywhere)).To(gomega.Succeed())
	t.Cleanup(func() { _ = cluster.Delete(context.WithoutCancel(w.ctx), everywhere) })
	w.Eventually(func() (string, error) { return u.run("", "status", "-A") }).
		Should(gomega.MatchRegexp(`(?m)^` + w.namespace + ` +shop +Unknown`))
	unknown := user{world: w, program: u.program, name: "unknown"}
	out, err = unknown.run("", "status")
	w.Expect(err).To(gomega.HaveOccurred())
	w.Expect(out).To(gomega.And(gomega.ContainSubstring("list Memcacheds"), gomega.ContainSubstring("forbidden")))
}
