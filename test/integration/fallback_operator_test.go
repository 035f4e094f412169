package integration

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAnOperatorContinuesTheHandoffsThatItFinds kills the operator in the middle of four copies, and starts it as if
// minutes had passed.
func TestAnOperatorContinuesTheHandoffsThatItFinds(t *testing.T) {
	w := newSlotWorld(t)
	copied, late := w.handedOver(t, "copied", 600), w.handedOver(t, "late", 600)
	oldDied, newDied := w.handedOver(t, "old-died", 600), w.handedOver(t, "new-died", 600)
	copied.copying("0")
	_, lateNext := late.copying("0")
	old, _ := oldDied.copying("0")
	_, next := newDied.copying("0")
	w.kill()

	copied.actWell()
	oldDied.isKilled(old)
	newDied.isKilled(next)
	newDied.actWell()
	late.beganEarlier(lateNext, 20*time.Minute)
	copied.stay()
	late.stay()
	newDied.stay()

	w.start()
	copied.serves("")
	oldDied.serves("PodLost")
	newDied.serves("")
	late.serves("HandoffTimedOut")
}

// kill kills the operator.
func (w *world) kill() {
	w.t.Helper()
	w.Expect(w.operator.Process.Kill()).To(gomega.Succeed())
	_ = w.operator.Wait()
	w.operator = nil
}

// beganEarlier makes a copy look as if it had begun some time ago.
func (h *handedOver) beganEarlier(next string, ago time.Duration) {
	h.t.Helper()
	const annotation = "cache.example.com/handoff"
	instruction := map[string]any{}
	content := get(h.world, next, &corev1.Pod{}).Annotations[annotation]
	h.Expect(json.Unmarshal([]byte(content), &instruction)).To(gomega.Succeed())
	instruction["since"] = time.Now().Add(-ago).UTC().Format(time.RFC3339)
	changed, err := json.Marshal(instruction)
	h.Expect(err).NotTo(gomega.HaveOccurred())
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{annotation: string(changed)}},
	})
	h.Expect(err).NotTo(gomega.HaveOccurred())
	h.patch(&corev1.Pod{}, next, string(patch))
}

// TestTheNextLeaderContinuesAHandoff kills the leader, so that its lease runs out.
func TestTheNextLeaderContinuesAHandoff(t *testing.T) {
	t.Parallel()
	w := &slotWorld{world: emptyWorld(t, operatorKubeconfig)}
	w.bindLeases()
	w.allow("rights") // Here, the Lease is in the namespace that the operator serves.
	elect := []string{"--watch-namespaces=" + w.namespace, "--leader-elect", "--leader-election-namespace=" + w.namespace}
	w.startWith(nil, elect...)
	w.play()
	kept, lost := w.handedOver(t, "kept", 600), w.handedOver(t, "lost", 600)
	leader := w.operator
	w.startWith(nil, elect...)
	kept.copying("0")
	_, next := lost.copying("0")
	w.Expect(leader.Process.Kill()).To(gomega.Succeed())
	_ = leader.Wait()
	kept.actWell()
	lost.fails(next, "OldUnreachable")
	kept.serves("")
	lost.serves("OldUnreachable")
}

// bindLeases gives operators the rights to elect a leader in the namespace.
func (w *slotWorld) bindLeases() {
	w.t.Helper()
	w.lets("leases", []string{operatorUser}, rbacv1.PolicyRule{
		APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"create", "get", "update"},
	})
}

// TestAQuotaWithoutMemoryForAPodMoreStopsARollout: the rollout continues when the quota has enough memory for one more
// Pod.
func TestAQuotaWithoutMemoryForAPodMoreStopsARollout(t *testing.T) {
	w := newSlotWorld(t)
	h := w.handedOver(t, "cache", 600)
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "memory"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourceLimitsMemory: resource.MustParse("1Ti")}},
	}
	w.Expect(cluster.Create(w.ctx, quota)).To(gomega.Succeed())
	eventually(w.world, quota.Name, quota, func(q *corev1.ResourceQuota) bool {
		used := q.Status.Used[corev1.ResourceLimitsMemory]
		return !used.IsZero()
	})
	used := quota.Status.Used[corev1.ResourceLimitsMemory]
	w.patch(quota, quota.Name, `{"spec":{"hard":{"limits.memory":"`+used.String()+`"}}}`)
	eventually(w.world, quota.Name, quota, func(q *corev1.ResourceQuota) bool {
		hard := q.Status.Hard[corev1.ResourceLimitsMemory]
		return hard.Cmp(used) == 0
	})
	h.rollOut()
	h.says("Pods cannot be created: exceeded quota: memory")
	h.stay()
	w.patch(quota, quota.Name, `{"spec":{"hard":{"limits.memory":"1Ti"}}}`)
	h.serves("")
}
