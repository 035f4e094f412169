package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

func TestTheStatusRefersToTheSecretOfTheBindingWhileItExists(t *testing.T) {
	tests := map[string]struct {
		wanted, before string
		owned          map[string]types.UID
		result         map[string]apply.Result
		invalid        bool
		want           string
	}{
		"no binding":                         {},
		"it was created":                     {wanted: "a", result: map[string]apply.Result{"a": apply.Created}, want: "a"},
		"it is as it was":                    {wanted: "a", before: "a", owned: map[string]types.UID{"a": "uid-1"}, want: "a"},
		"it could not be created":            {wanted: "a", result: map[string]apply.Result{"a": apply.Failed}},
		"it could not be updated":            {wanted: "a", owned: map[string]types.UID{"a": "uid-1"}, result: map[string]apply.Result{"a": apply.Failed}, want: "a"},
		"it belongs to another client":       {wanted: "a", before: "a", owned: map[string]types.UID{"a": "other"}, result: map[string]apply.Result{"a": apply.NotOwned}},
		"it waits for the Secret of users":   {wanted: "a"},
		"it was deleted":                     {before: "a", owned: map[string]types.UID{"a": "uid-1"}, result: map[string]apply.Result{"a": apply.Deleted}},
		"it could not be deleted":            {before: "a", owned: map[string]types.UID{"a": "uid-1"}, result: map[string]apply.Result{"a": apply.Failed}, want: "a"},
		"it got another name":                {wanted: "b", before: "a", owned: map[string]types.UID{"a": "uid-1"}, result: map[string]apply.Result{"b": apply.Created, "a": apply.Deleted}, want: "b"},
		"it got a name that another one has": {wanted: "b", before: "a", owned: map[string]types.UID{"a": "uid-1"}, result: map[string]apply.Result{"b": apply.NotOwned}, want: "a"},
		"the spec is invalid":                {wanted: "b", before: "a", invalid: true, want: "a"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in, kind := rolledOut(), observe.SecretKind.GroupKind()
			for secret, owner := range tc.owned {
				in.Snapshot.Objects[observe.Key{GroupKind: kind, Name: secret}] = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
					OwnerReferences: []metav1.OwnerReference{{UID: owner, Controller: new(true)}},
				}}
			}
			for secret, result := range tc.result {
				in.Report = append(in.Report, apply.Outcome{GroupKind: kind, Name: secret, Result: result})
			}
			if tc.wanted != "" {
				in.Plan.Binding = &plan.Binding{SecretName: tc.wanted}
			}
			if tc.before != "" {
				in.Memcached.Status.Binding = &cachev1.BindingStatus{Name: tc.before}
			}
			if tc.invalid {
				in.Invalid = &plan.Invalid{}
			}
			var want *cachev1.BindingStatus
			if tc.want != "" {
				want = &cachev1.BindingStatus{Name: tc.want}
			}
			if diff := cmp.Diff(want, Evaluate(in).Binding); diff != "" {
				t.Errorf("status.binding (-want +got):\n%s", diff)
			}
		})
	}
}
