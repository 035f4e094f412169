package integration

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

// slotKinds are the kinds that an operator watches only for slots.
var slotKinds = []string{"endpointslices", "replicasets"}

// asked returns the operator's requests for the kinds that it watches only for slots.
func (w *world) asked() (found []string) {
	for _, r := range audit.read() {
		if r.ObjectRef.Namespace == w.namespace && isOperators(r) && slices.Contains(slotKinds, r.ObjectRef.Resource) {
			found = append(found, describe(r))
		}
	}
	return found
}

func TestWithoutSlotsNothingIsReadForThem(t *testing.T) {
	w := newWorld(t)
	w.memcached("plain", 2)
	w.ready("plain")
	w.Expect(w.asked()).To(gomega.BeEmpty())

	w.create("slotted", cachev1.MemcachedSpec{Size: new(int32(0)), Slots: &cachev1.Slots{}})
	w.reason("slotted", cachev1.ReasonScaledToZero)
	var lists []string
	for _, request := range w.asked() {
		if strings.HasPrefix(request, "list ") {
			lists = append(lists, request)
		}
	}
	slices.Sort(lists)
	w.stop() // The audit log has a watch only once the watch has ended. A streamed list is a watch, too.
	w.Eventually(w.asked).Should(gomega.ContainElements("watch endpointslices", "watch replicasets"))
	if unique := slices.Compact(slices.Clone(lists)); len(unique) != len(lists) {
		t.Errorf("listed more than once: %v", lists)
	}
}

// newRestrictedWorld returns a world whose operator has only the rights that overlays/components/without-slots leaves.
func newRestrictedWorld(t *testing.T) *slotWorld {
	t.Helper()
	t.Parallel()
	w := &slotWorld{world: emptyWorld(t, operatorKubeconfig)}
	w.takeSlotRights()
	w.start()
	w.play()
	return w
}

// takeSlotRights replaces the operator's role by the role of the component, without the rights for slots.
func (w *slotWorld) takeSlotRights() {
	w.t.Helper()
	w.take(rulesWithoutSlots(w.world))
}

// take replaces the operator's rights by these rules.
func (w *slotWorld) take(rules []rbacv1.PolicyRule) {
	w.t.Helper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "restricted"}, Rules: rules}
	w.Expect(cluster.Create(w.ctx, role)).To(gomega.Succeed())
	w.bindOnly(rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name}, false)
}

// giveSlotRights gives the operator its regular role again.
func (w *slotWorld) giveSlotRights() {
	w.t.Helper()
	w.bindOnly(rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "memcached-operator-manager-role"}, true)
}

// bindOnly replaces the operator's RoleBinding in the namespace, and waits until the API server uses it.
func (w *slotWorld) bindOnly(role rbacv1.RoleRef, withSlots bool) {
	w.t.Helper()
	binding := get(w.world, "memcached-operator", &rbacv1.RoleBinding{})
	w.Expect(cluster.Delete(w.ctx, binding)).To(gomega.Succeed())
	w.Expect(cluster.Create(w.ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: binding.Name},
		RoleRef:    role, Subjects: binding.Subjects,
	})).To(gomega.Succeed())
	may := func(verb string) bool {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: operatorUser, ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: w.namespace, Resource: "pods", Verb: verb,
			},
		}}
		w.Expect(cluster.Create(w.ctx, review)).To(gomega.Succeed())
		return review.Status.Allowed
	}
	w.Eventually(func() bool { return may("list") && may("get") == withSlots }).Should(gomega.BeTrue())
}

// rulesWithoutSlots are the rules that the component leaves in the role.
func rulesWithoutSlots(w *world) []rbacv1.PolicyRule {
	w.t.Helper()
	objects, err := kustomize.Objects(repository + "/operator/internal/controller/testdata/without-slots")
	w.Expect(err).NotTo(gomega.HaveOccurred())
	for _, object := range objects {
		if object.GetKind() == "ClusterRole" && object.GetName() == "memcached-operator-manager-role" {
			role := &rbacv1.ClusterRole{}
			w.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, role)).To(gomega.Succeed())
			return role.Rules
		}
	}
	w.t.Fatal("the overlay has no role")
	return nil
}

func TestInvalidSpecNamesTheRightThatSlotsDoNotHave(t *testing.T) {
	w := newRestrictedWorld(t)
	w.memcached("plain", 1)
	w.reason("plain", cachev1.ReasonAllPodsReady)
	for _, name := range []string{"cache", "other"} {
		w.create(name, cachev1.MemcachedSpec{Size: new(int32(1)), Slots: &cachev1.Slots{}})
		mc := w.reason(name, cachev1.ReasonInvalidSpec)
		message := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionReady).Message
		w.Expect(message).To(gomega.And(gomega.ContainSubstring("(get pods, patch pods, patch pods/status, delete services, "),
			gomega.ContainSubstring("): remove the component overlays/components/without-slots or ")))
	}
	w.Expect(w.asked()).To(gomega.BeEmpty(), "a watch without the right would fail for ever")

	w.giveSlotRights()
	w.served("cache") // This needs no restart, and takes at most a minute.
	w.served("other")
}

// TestAnOperatorThatLostTheRightsOfSlotsSaysWhatToDo restarts the operator without the rights for slots, as if it was
// installed again with the component.
func TestAnOperatorThatLostTheRightsOfSlotsSaysWhatToDo(t *testing.T) {
	w := newSlotWorld(t)
	w.memcachedWithSlots("cache", 2, cachev1.SlotsDNS)
	before := podNames(w.pods("cache"))
	w.stop()
	w.takeSlotRights()
	w.start()
	mc := w.reason("cache", cachev1.ReasonInvalidSpec)
	message := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionReady).Message
	w.Expect(message).To(gomega.And(
		gomega.ContainSubstring("overlays/components/without-slots"), gomega.ContainSubstring("or remove spec.slots")))
	if diff := cmp.Diff(before, podNames(w.pods("cache"))); diff != "" {
		t.Errorf("Pods (-before +now):\n%s", diff)
	}
	w.patchSpec(`{"slots":null}`)
	mc = w.reason("cache", cachev1.ReasonAllPodsReady)
	for _, pod := range mc.Status.Nodes {
		w.Expect(get(w.world, pod, &corev1.Pod{}).Spec.ReadinessGates).To(gomega.BeEmpty())
	}
}

// TestARestartedOperatorRemovesTheObjectsOfFormerSlots stops the operator when only the objects of the slots are left.
func TestARestartedOperatorRemovesTheObjectsOfFormerSlots(t *testing.T) {
	w := newSlotWorld(t)
	w.memcachedWithSlots("cache", 1, cachev1.SlotsClusterIP)
	w.stop()
	// This is the state after an update without slots, if the operator was killed before it deleted the objects of the
	// slots.
	w.request("cache", "now")
	w.patchSpec(`{"slots":null,"size":0}`)
	w.patchStatus(get(w.world, "cache", &cachev1.Memcached{}), `{"slots":null}`)
	w.Expect(cluster.Delete(w.ctx, w.deployment("cache"))).To(gomega.Succeed())
	w.Expect(w.namesOfSlots()).To(gomega.ContainElements("cache-0", "cache-slots", "cache-slots-ipv4"))
	w.start()
	w.Eventually(func() []string { return w.namesOfSlots() }).Should(gomega.BeEmpty())
}
