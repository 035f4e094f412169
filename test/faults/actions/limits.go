package actions

import (
	"context"
	"math/rand/v2"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// quota is a ResourceQuota that is too small.
type quota struct {
	lasting

	Resource corev1.ResourceName `json:"resource"`
	Amount   string              `json:"amount"`
	Raised   bool                `json:"raised"` // whether a quota of objects ends by being raised, not deleted
}

// limitRange refuses containers, or gives them defaults.
type limitRange struct {
	lasting

	Limits corev1.LimitRangeItem `json:"limits"`
}

func limits() []Action {
	return []Action{
		{plan.Action{Name: "a quota is too small", Weight: 2, Draw: drawQuota}, given(setQuota)},
		{plan.Action{Name: "a LimitRange is set", Weight: 1, Draw: drawLimitRange}, given(setLimitRange)},
	}
}

func drawQuota(r *rand.Rand) any {
	return quota{
		lasting: drawLasting(r), Amount: one(r, "0", "1", "2"), Raised: r.IntN(2) == 0,
		Resource: one(r, corev1.ResourcePods, corev1.ResourceServices, corev1.ResourceRequestsCPU,
			corev1.ResourceLimitsMemory, "count/deployments.apps", "count/replicasets.apps",
			"count/networkpolicies.networking.k8s.io", "count/poddisruptionbudgets.policy"),
	}
}

func setQuota(ctx context.Context, w *world.World, _ plan.Step, with quota) error {
	hard := func(amount string) corev1.ResourceList {
		return corev1.ResourceList{with.Resource: resource.MustParse(amount)}
	}
	object := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: newName(w, "quota")},
		Spec:       corev1.ResourceQuotaSpec{Hard: hard(with.Amount)},
	}
	end := func(ctx context.Context) error {
		isOfObjects := with.Resource == corev1.ResourcePods || with.Resource == corev1.ResourceServices ||
			strings.HasPrefix(string(with.Resource), "count/")
		if !with.Raised || !isOfObjects { // Even a raised quota of memory refuses containers without a limit.
			return w.Client.Delete(ctx, object)
		}
		raised := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: object.Name}}
		small := raised.DeepCopy()
		raised.Spec.Hard = hard("1000Gi")
		return w.Client.Patch(ctx, raised, client.MergeFrom(small))
	}
	return limitFor(ctx, w, with.lasting, object, end)
}

func drawLimitRange(r *rand.Rand) any {
	of := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
		}
	}
	return limitRange{drawLasting(r), one(r,
		corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Max: of("1m", "1Mi")},
		corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Min: of("100", "100Gi")},
		corev1.LimitRangeItem{Type: corev1.LimitTypePod, Max: of("20m", "64Mi")},
		corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Default: of("2", "1Gi"), DefaultRequest: of("1m", "1Mi")},
	)}
}

func setLimitRange(ctx context.Context, w *world.World, _ plan.Step, with limitRange) error {
	object := &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: newName(w, "range")},
		Spec:       corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{with.Limits}},
	}
	return limitFor(ctx, w, with.lasting, object, func(ctx context.Context) error { return w.Client.Delete(ctx, object) })
}

// limitFor creates an object that sets a limit, and calls end after a while.
func limitFor(
	ctx context.Context, w *world.World, with lasting, object client.Object, end func(context.Context) error,
) error {
	if err := attempt(ctx, func(ctx context.Context) error { return w.Client.Create(ctx, object) }); err != nil {
		return err
	}
	endAfter(ctx, w, with.For.Duration, func(ctx context.Context) error { return attempt(ctx, end) })
	return nil
}
