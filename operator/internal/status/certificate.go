package status

// The condition CertificateIncomplete about names of slots and of discovery that the certificate does not have.

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// setCertificateIncomplete reports the names that the certificate does not have. This does not change Ready, because
// clients that do not verify names are served in any case.
func setCertificateIncomplete(status *cachev1.MemcachedStatus, in Input) {
	missing := uncovered(*status, in)
	if len(missing) == 0 {
		meta.RemoveStatusCondition(&status.Conditions, cachev1.ConditionCertificateIncomplete)
		return
	}
	message := fmt.Sprintf("The certificate in the Secret %q is missing names, and clients that verify names refuse it: "+
		"%s. The Pods load a new certificate without a restart. Missing: %s",
		in.Snapshot.TLS.Name, completion(missing, in), strings.Join(missing, ", "))
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: cachev1.ConditionCertificateIncomplete, Status: metav1.ConditionTrue, Reason: cachev1.ReasonNamesMissing,
		ObservedGeneration: status.ObservedGeneration, LastTransitionTime: metav1.NewTime(in.Now),
		Message: Shorten(message, longestMessage),
	})
}

// completion says how the certificate gets the missing names. One wildcard covers the DNS names of all slots.
func completion(missing []string, in Input) string {
	if requested := in.Plan.Certificate; requested != nil {
		return fmt.Sprintf("wait until cert-manager has issued the Certificate %q again", in.Memcached.Name)
	}
	wildcard := "*." + names.SlotService(in.Memcached.Name) + "." + in.Memcached.Namespace + ".svc"
	isSlot := func(host string) bool { return strings.HasSuffix(host, wildcard[1:]) }
	others := slices.DeleteFunc(slices.Clone(missing), isSlot)
	const ofCertificate = " to the DNS names of the certificate"
	switch {
	case len(others) == len(missing):
		return "add the missing names" + ofCertificate
	case len(others) > 0:
		return "add " + wildcard + " and " + strings.Join(others, ", ") + ofCertificate
	}
	return "add " + wildcard + ofCertificate
}

// uncovered returns the hosts of slots and of discovery that the certificate does not cover. Other checks report a
// certificate that cannot be used.
func uncovered(status cachev1.MemcachedStatus, in Input) []string {
	secret := in.Snapshot.TLS
	if secret == nil || !secret.Usable() {
		return nil
	}
	var addresses, missing []string
	for _, slot := range status.Slots {
		addresses = append(addresses, slot.Address)
	}
	if status.DiscoveryEndpoint != "" {
		addresses = append(addresses, status.DiscoveryEndpoint)
	}
	for _, address := range addresses {
		host, _, _ := strings.Cut(address, ":")
		if !secret.Covers(host) {
			missing = append(missing, host)
		}
	}
	return missing
}
