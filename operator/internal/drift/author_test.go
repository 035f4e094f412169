package drift

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

func TestOnlyWhatOurFieldManagerAppliedIsOurWork(t *testing.T) {
	const hash, label = `{"f:metadata":{"f:annotations":{"f:cache.example.com/applied-hash":{}}}}`, `{"f:metadata":{"f:labels":{"f:app":{}}}}`
	entry := func(manager string, operation metav1.ManagedFieldsOperationType, subresource, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: operation, Subresource: subresource, FieldsV1: metav1.NewFieldsV1(fields),
		}
	}
	const apply, update = metav1.ManagedFieldsOperationApply, metav1.ManagedFieldsOperationUpdate
	tests := map[string]struct {
		managed []metav1.ManagedFieldsEntry
		want    bool
	}{
		"what we applied":                          {[]metav1.ManagedFieldsEntry{entry(names.FieldOwner, apply, "", hash)}, true},
		"what the operator and another client set": {[]metav1.ManagedFieldsEntry{entry("another", update, "", hash), entry(names.FieldOwner, apply, "", hash)}, true},
		"a hash that another client wrote":         {[]metav1.ManagedFieldsEntry{entry("another", update, "", hash), entry(names.FieldOwner, apply, "", label)}, false},
		"a hash that was updated":                  {[]metav1.ManagedFieldsEntry{entry(names.FieldOwner, update, "", hash)}, false},
		"a hash by way of a subresource":           {[]metav1.ManagedFieldsEntry{entry(names.FieldOwner, apply, "status", hash)}, false},
		"what can't be read":                       {[]metav1.ManagedFieldsEntry{entry(names.FieldOwner, apply, "", `{`)}, false},
		"what was read without its fields":         {[]metav1.ManagedFieldsEntry{{Manager: names.FieldOwner, Operation: apply}}, false},
		"nothing":                                  {nil, false},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			object := &metav1.ObjectMeta{
				ManagedFields: tc.managed, Annotations: map[string]string{names.AnnotationAppliedHash: "0123456789abcdef"},
			}
			if got := Applied(object); got != tc.want {
				t.Errorf("owned: %t, want %t", got, tc.want)
			}
		})
	}
}
