package drift

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// TestNoValueOfASecretIsShown makes another client write the password into a label and an annotation, too.
func TestNoValueOfASecretIsShown(t *testing.T) {
	const mine, unowned = "correct-horse", "battery-staple"
	wanted := corev1ac.Secret("cache", "team").
		WithLabels(map[string]string{"app": "memcached"}).
		WithAnnotations(map[string]string{"example.com/contact": "shop"}).
		WithData(map[string][]byte{"password": []byte(mine), "host": []byte(mine)})
	live := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: "cache", Namespace: "team", Labels: map[string]string{"app": unowned},
			Annotations: map[string]string{"example.com/contact": unowned},
			ManagedFields: []metav1.ManagedFieldsEntry{
				written("kubectl-edit", "Update", 0, `{"f:data":{"f:password":{}}}`),
			},
		},
		Data: map[string][]byte{"password": []byte(unowned)},
	}
	drifts, err := Explain(live, wanted, fieldpath.NewSet(
		fieldpath.MakePathOrDie("data", "password"), fieldpath.MakePathOrDie("data", "host"), app,
		fieldpath.MakePathOrDie("metadata", "annotations", "example.com/contact")))
	if err != nil {
		t.Fatal(err)
	}
	text := Describe(drifts) + Fixes("Secret", drifts) + fmt.Sprintf("%+v", drifts)
	for _, secret := range []string{mine, unowned, "Y29ycmVjdC1ob3JzZQ", "YmF0dGVyeS1zdGFwbGU"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is shown in %s", secret, text)
		}
	}
	for _, want := range []string{
		`.data.password (not shown) -> (not shown) by "kubectl-edit"`, ".data.host (not shown) -> removed",
		".metadata.labels.app (not shown) -> (not shown)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
}
