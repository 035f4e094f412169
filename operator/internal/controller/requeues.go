package controller

// The causes to reconcile again without an event; the soonest counts.

import (
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/status"
)

// requeue returns after what time one cause requires another reconciliation, if no event triggers one; 0 means never.
type requeue func(*reconciliation) time.Duration

// requeues are all causes; the soonest counts.
var requeues = []requeue{
	// A changed status has to wait.
	statusMayBeWritten,
	// An object was not written, or may have been changed by an admission webhook.
	objectsMayBeWritten,
	// A decision about a slot is due at a known time.
	slotsAreDecided,
	// Another client changed a Pod with a slot before the operator did.
	podsAreReadAgain,
	// A new list of servers is to be announced at a known time.
	serversAreAnnounced,
	// The operator chose another memory, or another number of Pods.
	stepIsChosen,
	// The cache becomes Stalled.
	deadlinePasses,
	// The certificate expires.
	certificateExpires,
	// The known Nodes are outdated.
	nodesAreOutdated,
	// The operator may have been given the rights for slots, discovery or a binding.
	rightsAreReviewed,
	// cert-manager may have been installed.
	certManagerIsInstalled,
}

// longestWait limits how far ahead a reconciliation is queued, because the queue keeps it even if the Memcached is
// deleted in the meantime.
const longestWait = 24 * time.Hour

// again returns after what time to reconcile again; 0 means never.
func (c *reconciliation) again() time.Duration {
	var soonest time.Duration
	for _, requeue := range requeues {
		if after := requeue(c); after > 0 && (soonest == 0 || after < soonest) {
			soonest = after
		}
	}
	return min(soonest, longestWait)
}

func statusMayBeWritten(c *reconciliation) time.Duration { return c.statusWait }

func objectsMayBeWritten(c *reconciliation) time.Duration { return c.report.RetryAfter() }

func slotsAreDecided(c *reconciliation) time.Duration { return c.slots().RequeueAfter }

func serversAreAnnounced(c *reconciliation) time.Duration { return c.discovery().After }

// stepIsChosen returns a time once the status was written with a new memory or a new number of Pods that the operator
// chose. The next reconciliation applies the choice, but the write of the status triggers none.
func stepIsChosen(c *reconciliation) time.Duration {
	if c.memcached == nil {
		return 0
	}
	before := c.memcached.Status
	if status.MemoryStep(before, c.status, "") == "" && status.SizeStep(before, c.status, "") == "" {
		return 0
	}
	return time.Millisecond
}

func podsAreReadAgain(c *reconciliation) time.Duration {
	if c.podsChanged {
		return changedRetry
	}
	return 0
}

func deadlinePasses(c *reconciliation) time.Duration { return status.Deadline(c.input, c.status) }

func certificateExpires(c *reconciliation) time.Duration {
	certificate := c.snapshot.TLS
	if certificate == nil || certificate.NotAfter.IsZero() || certificate.Expired {
		return 0
	}
	return max(certificate.NotAfter.Sub(c.now), time.Second)
}

// nodesAreOutdated returns a time if the message in the status depends on the Nodes, because changes to Nodes are not
// watched, or if the list of Nodes was old.
func nodesAreOutdated(c *reconciliation) time.Duration {
	if c.nodes == nil || c.nodesAge < nodesFresh && !status.NoNodeFits(c.input) {
		return 0
	}
	return max(nodesTTL-c.nodesAge, nodesFresh)
}

// rightsAreReviewed returns a time while the spec requests slots, discovery or a binding, and rights are missing: no
// event reports when the rights are granted.
func rightsAreReviewed(c *reconciliation) time.Duration {
	forSlots := len(c.missingRights) > 0 && c.memcached.Spec.Slots != nil
	if !forSlots && len(c.missingDiscoveryRights) == 0 && len(c.missingBindingRights) == 0 {
		return 0
	}
	return rightsTTL
}

// certManagerIsInstalled returns a time while the operator can't request the certificate that the spec requires: no
// event reports when it can.
func certManagerIsInstalled(c *reconciliation) time.Duration {
	if c.noCertificates == "" || !wantsCertificate(c.memcached) {
		return 0
	}
	return certManagerTTL
}
