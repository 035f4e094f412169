package status

// The condition CertificateIncomplete about names of slots that the certificate does not have.

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// setCertificateIncomplete reports the names of slots that the certificate does not have. A client that does not verify
// names is served all the same, so this does not change Ready.
func setCertificateIncomplete(status *cachev1.MemcachedStatus, in Input) {
	missing := uncovered(status.Slots, in)
	if len(missing) == 0 {
		meta.RemoveStatusCondition(&status.Conditions, cachev1.ConditionCertificateIncomplete)
		return
	}
	wildcard := "*." + names.SlotService(in.Memcached.Name) + "." + in.Memcached.Namespace + ".svc"
	add := "add " + wildcard
	if !strings.HasSuffix(missing[0], wildcard[1:]) {
		add = "add them"
	}
	message := fmt.Sprintf("The certificate in the Secret %q is missing names of slots, and clients that verify names "+
		"refuse it: %s to its DNS names. The Pods load the new one without a restart. Missing: %s",
		in.Snapshot.TLS.Name, add, strings.Join(missing, ", "))
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: cachev1.ConditionCertificateIncomplete, Status: metav1.ConditionTrue, Reason: cachev1.ReasonSlotNamesMissing,
		ObservedGeneration: status.ObservedGeneration, LastTransitionTime: metav1.NewTime(in.Now),
		Message: Shorten(message, longestMessage),
	})
}

// uncovered returns the hosts of slots that the certificate does not cover. Other checks report a certificate that
// cannot be used.
func uncovered(slots []cachev1.SlotStatus, in Input) []string {
	secret := in.Snapshot.TLS
	if secret == nil || !secret.Usable() {
		return nil
	}
	var missing []string
	for _, slot := range slots {
		host, _, _ := strings.Cut(slot.Address, ":")
		if !secret.Covers(host) {
			missing = append(missing, host)
		}
	}
	return missing
}
