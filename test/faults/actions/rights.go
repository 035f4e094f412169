package actions

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/install"
	"github.com/example-inc/memcached-operator/internal/testing/proxy"
	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// missingRight is a right that the operator does not have for some time.
type missingRight struct {
	lasting

	// Right is the index of a resource and verb in the operator's role, modulo their number.
	Right int `json:"right"`
}

func rights() []Action {
	return []Action{
		{plan.Action{Name: "the operator loses all rights", Weight: 1, Draw: func(r *rand.Rand) any {
			return drawLasting(r)
		}}, given(takeAllRights)},
		{plan.Action{Name: "the operator loses a right", Weight: 2, Draw: func(r *rand.Rand) any {
			return missingRight{drawLasting(r), r.IntN(1000)}
		}}, given(takeOneRight)},
	}
}

func takeAllRights(ctx context.Context, w *world.World, _ plan.Step, with lasting) error {
	if err := attempt(ctx, func(ctx context.Context) error { return w.Client.Delete(ctx, w.RoleBinding()) }); err != nil {
		return err
	}
	endAfter(ctx, w, with.For.Duration, func(ctx context.Context) error { return giveBack(ctx, w, anyRight) })
	return nil
}

func takeOneRight(ctx context.Context, w *world.World, _ plan.Step, with missingRight) error {
	full := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: install.Role}}
	err := ask(ctx, func(ctx context.Context) error { return w.Client.Get(ctx, client.ObjectKeyFromObject(full), full) })
	if err != nil {
		return err
	}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: newName(w, "limited")}}
	var taken rbacv1.PolicyRule
	role.Rules, taken = without(full.Rules, with.Right)
	if err := attempt(ctx, func(ctx context.Context) error { return w.Client.Create(ctx, role) }); err != nil {
		return err
	}
	limited := w.RoleBinding()
	limited.RoleRef.Kind, limited.RoleRef.Name = "Role", role.Name
	if err := bindRole(ctx, w, limited); err != nil {
		return err
	}
	if taken.Verbs[0] == "list" || taken.Verbs[0] == "watch" { // Running requests do not end when the right is removed.
		w.First().EndWatches(proxy.Watches(taken.Resources[0]), taken.Verbs[0] == "list")
	}
	endAfter(ctx, w, with.For.Duration, func(ctx context.Context) error { return giveBack(ctx, w, taken) })
	return nil
}

// anyRight is one of the rights that the operator loses when it loses all.
var anyRight = rbacv1.PolicyRule{
	APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"patch"},
}

// giveBack gives a right back, and returns when the API server grants it again. The API server learns of the role by a
// watch, which is late on a busy machine. A request that is refused after this function returns is an error of the
// operator.
func giveBack(ctx context.Context, w *world.World, right rbacv1.PolicyRule) error {
	if err := bindRole(ctx, w, w.RoleBinding()); err != nil {
		return err
	}
	resource, subresource, _ := strings.Cut(right.Resources[0], "/")
	return ask(ctx, func(ctx context.Context) error {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: install.User, ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: w.Namespace, Verb: right.Verbs[0],
				Group: right.APIGroups[0], Resource: resource, Subresource: subresource,
			},
		}}
		err := w.Client.Create(ctx, review)
		if err == nil && !review.Status.Allowed {
			err = errors.New("the operator does not have its right again yet: another step has removed it")
		}
		return err
	})
}

// bindRole replaces the operator's RoleBinding, because the role in a RoleBinding cannot be changed. If several steps
// do this, the last one wins.
func bindRole(ctx context.Context, w *world.World, binding *rbacv1.RoleBinding) error {
	return ask(ctx, func(ctx context.Context) error {
		if err := client.IgnoreNotFound(w.Client.Delete(ctx, w.RoleBinding())); err != nil {
			return err
		}
		err := w.Client.Create(ctx, binding.DeepCopy())
		if apierrors.IsAlreadyExists(err) { // Another step was faster, so try again.
			return errors.New(err.Error())
		}
		return err
	})
}

// clusterWide are cluster-scoped resources, for which a Role in a namespace gives no rights.
var clusterWide = []string{"apiservices", "nodes"}

// without removes one verb of one namespaced resource from the rules. It returns the remaining rules, and the removed
// verb as a rule.
func without(rules []rbacv1.PolicyRule, right int) (rest []rbacv1.PolicyRule, taken rbacv1.PolicyRule) {
	var single []rbacv1.PolicyRule
	for _, rule := range rules {
		for _, resource := range rule.Resources {
			if slices.Contains(clusterWide, resource) {
				continue
			}
			for _, verb := range rule.Verbs {
				one := rule.DeepCopy()
				one.Resources, one.Verbs = []string{resource}, []string{verb}
				single = append(single, *one)
			}
		}
	}
	i := right % len(single)
	taken = single[i]
	return slices.Delete(single, i, i+1), taken
}
