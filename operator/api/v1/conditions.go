package v1

// Condition types of a Memcached, as kstatus defines them
// (https://github.com/kubernetes-sigs/cli-utils/tree/master/pkg/kstatus).
const (
	// ConditionReady is always set. It is True while the cache has the desired number of Pods, and all of them are up to
	// date and ready.
	ConditionReady = "Ready"

	// ConditionReconciling is set, with status True, while the operator or the cluster works towards the spec.
	// status.progressingSince is when this work began for the current generation of the spec.
	ConditionReconciling = "Reconciling"

	// ConditionStalled is set, with status True, while nothing will change without a user's action.
	ConditionStalled = "Stalled"

	// ConditionSuspended is set, with status True, while spec.suspend is true. Ready still reports the state of the
	// Pods.
	ConditionSuspended = "Suspended"

	// ConditionUpdatePending is True while the defaults of the operator, newer or older, differ from those that the Pods
	// were created from, and False otherwise, so that clients can wait for True as well as for False. Its message lists
	// the differences. It does not reflect the health of the Pods: Ready may be True as well.
	ConditionUpdatePending = "UpdatePending"

	// ConditionRestartRequired is set, with status True, while Pods still accept something that was removed from a Secret:
	// clients of a removed CA, or open connections of a removed user. Its message names the CAs and the command that
	// restarts the Pods. The condition is removed once all of these Pods have restarted. It does not reflect the health of
	// the Pods.
	ConditionRestartRequired = "RestartRequired"

	// ConditionCertificateIncomplete is set, with status True, while the certificate does not have all names of slots and
	// of discovery, so that clients that verify names refuse it. Its message lists the missing names and has the fix. It
	// does not reflect the health of the Pods: Ready may be True as well.
	ConditionCertificateIncomplete = "CertificateIncomplete"

	// ConditionBootstrapped is set while spec.bootstrap is set. It is True while clients may use the other servers and the
	// cache at the same time, or once a snapshot is restored, and False before. It does not reflect the health of the
	// Pods: Ready may be True as well.
	ConditionBootstrapped = "Bootstrapped"

	// ConditionAsUsual is set while spec.autoscaling is set. It is False while the use of the cache deviates from its
	// usual day, and Unknown until the operator has learned the usual day. It does not reflect the health of the Pods:
	// Ready may be True as well.
	ConditionAsUsual = "AsUsual"
)

// Reasons of the Ready condition. Reconciling and Stalled carry the same reason as Ready.
const (
	// ReasonAllPodsReady: all Pods are up to date and ready.
	ReasonAllPodsReady = "AllPodsReady"

	// ReasonScaledToZero: the size is 0, so there is nothing to wait for.
	ReasonScaledToZero = "ScaledToZero"

	// ReasonRollingOut: Pods are being added, replaced or removed.
	ReasonRollingOut = "RollingOut"

	// ReasonHandingOver: Pods are being replaced, and slots are moving from them to other Pods. The message has the number
	// of slots that still have to move, and the latest time until which a Pod that terminates keeps its slot.
	ReasonHandingOver = "HandingOver"

	// ReasonResizing: running Pods get the memory of the spec, without a restart. The message has the number of Pods that
	// still have to be resized, and what they wait for.
	ReasonResizing = "Resizing"

	// ReasonPodsNotReady: Pods are missing or not ready. The message has the cause, as the cluster reports it.
	ReasonPodsNotReady = "PodsNotReady"

	// ReasonProgressDeadlineExceeded: Pods are missing or not ready, and none became ready for
	// rollout.progressDeadlineSeconds. The message has the cause, as the cluster reports it.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"

	// ReasonInvalidSpec: the spec is invalid. Running Pods are not changed.
	ReasonInvalidSpec = "InvalidSpec"

	// ReasonSecretNotFound: a Secret that the spec refers to does not exist. Running Pods are not changed.
	ReasonSecretNotFound = "SecretNotFound"

	// ReasonCertificateUnavailable: tls.issuerRef requests a certificate, but the cluster does not have cert-manager, or
	// the operator does not have the rights on Certificates. The rest of the spec is applied.
	ReasonCertificateUnavailable = "CertificateUnavailable"

	// ReasonInvalidSecret: memcached could not use the content of a Secret. The message names the entry of the Secret, but
	// contains nothing of its content. Running Pods are not changed and keep what they loaded.
	ReasonInvalidSecret = "InvalidSecret"

	// ReasonCertificateExpired: the certificate in the Secret has expired. Pods serve it, and clients refuse it.
	ReasonCertificateExpired = "CertificateExpired"

	// ReasonOwnershipConflict: an object that the cache needs already exists, and the Memcached does not own it. The
	// operator does not change the object.
	ReasonOwnershipConflict = "OwnershipConflict"

	// ReasonFieldManagerConflict: another field manager overwrites an object of the cache each time that the operator
	// reverts the change. The message names the field manager, the field and the fix. The operator pauses for at most
	// ten minutes, then tries again.
	ReasonFieldManagerConflict = "FieldManagerConflict"

	// ReasonKeysMoving: a change to the size or to the Pods waits until spec.bootstrap is removed, because clients may use
	// the other servers and the cache at the same time.
	ReasonKeysMoving = "KeysMoving"

	// ReasonApplyFailed: the API server refused an object of the cache, or did not answer. The operator tries again.
	ReasonApplyFailed = "ApplyFailed"

	// ReasonSuspended: the operator writes nothing, because spec.suspend is true.
	ReasonSuspended = "Suspended"
)

// Reasons of the UpdatePending condition.
const (
	// ReasonDefaultsDiffer: the defaults of the operator differ from those that the Pods were created from. The operator
	// does not apply its defaults, because this would replace the Pods. After a downgrade, the operator's defaults are the
	// older ones. The reason is the same if the spec changes the memory of Pods without slots while rollout.memoryChange
	// is Resize.
	ReasonDefaultsDiffer = "DefaultsDiffer"

	// ReasonUpdateQueued: the defaults differ as with DefaultsDiffer, and updatePolicy is Automatic. The message says what
	// the update waits for: usually the updates of other caches, because the operator updates at most
	// --max-concurrent-updates caches at a time.
	ReasonUpdateQueued = "UpdateQueued"

	// ReasonNoUpdatePending: the Pods were created from the current defaults of the operator.
	ReasonNoUpdatePending = "NoUpdatePending"

	// ReasonUpdateInProgress: the operator has applied its defaults, because updatePolicy is Automatic, and the cache
	// is not Ready again yet.
	ReasonUpdateInProgress = "UpdateInProgress"
)

// Reasons of the RestartRequired condition. If both apply, the reason is ClientCARemoved, because a client of a removed
// CA can still open connections, while a removed user can only keep open connections. The message names both.
const (
	// ReasonClientCARemoved: a client CA was removed from the Secret. Memcached does not drop a client CA while it runs.
	ReasonClientCARemoved = "ClientCARemoved"

	// ReasonUserRemoved: a user or a password was removed from the Secret. Memcached checks the password only when a
	// connection begins.
	ReasonUserRemoved = "UserRemoved"
)

// Reasons of the CertificateIncomplete condition.
const (
	// ReasonNamesMissing: the certificate does not cover the addresses of all slots, or the address of discovery.
	ReasonNamesMissing = "NamesMissing"
)

// Reasons of the AsUsual condition. If there are several deviations, the reason of the condition is the one that is
// first in this list, and the message has all deviations.
const (
	// ReasonHitRatioFell: clearly fewer reads find their item than usual at this time of the day.
	ReasonHitRatioFell = "HitRatioFell"

	// ReasonEvictedSooner: items are evicted clearly sooner after their last use than usual, and before
	// autoscaling.memory.evictionAgeSeconds.
	ReasonEvictedSooner = "EvictedSooner"

	// ReasonConnectionsRose: clients have clearly more connections open than usual.
	ReasonConnectionsRose = "ConnectionsRose"

	// ReasonConnectionsFell: clients have clearly fewer connections open than usual.
	ReasonConnectionsFell = "ConnectionsFell"

	// ReasonLatencyRose: memcached takes clearly longer to answer than usual.
	ReasonLatencyRose = "LatencyRose"

	// ReasonAsUsual: nothing deviates.
	ReasonAsUsual = "AsUsual"

	// ReasonLearning: the operator is still learning what is usual. The message says until when.
	ReasonLearning = "Learning"

	// ReasonNotReported: no Pod reports how it is used, so the operator can't find deviations.
	ReasonNotReported = "NotReported"
)

// Reasons of the Bootstrapped condition.
const (
	// ReasonBootstrapWaiting: no key is copied yet, because a slot has no Pod, because the Pod that copies the keys has
	// not started, or because something is missing that the message names.
	ReasonBootstrapWaiting = "BootstrapWaiting"

	// ReasonBootstrapCopying: the keys are being copied for the first time.
	ReasonBootstrapCopying = "BootstrapCopying"

	// ReasonBootstrapFollowing: all keys are copied, and a key that changes in the other servers is copied again.
	ReasonBootstrapFollowing = "BootstrapFollowing"

	// ReasonBootstrapCuttingOver: spec.bootstrap.mode is CutOver, and not all changes are copied yet.
	ReasonBootstrapCuttingOver = "BootstrapCuttingOver"

	// ReasonBootstrapCutOver: clients may use both the other servers and the cache.
	ReasonBootstrapCutOver = "BootstrapCutOver"

	// ReasonBootstrapResuming: clients may use both the other servers and the cache, but the Pod that copies the keys has
	// started again, and removes all keys from both. Until it has removed them, clients may read outdated values.
	ReasonBootstrapResuming = "BootstrapResuming"

	// ReasonBootstrapFailed: the last attempt to copy the keys failed. The next attempt copies them from the beginning or,
	// if clients may use both the other servers and the cache, removes all keys from both. The message has the cause and
	// the fix.
	ReasonBootstrapFailed = "BootstrapFailed"

	// ReasonBootstrapRestoring: the items of a snapshot are being added.
	ReasonBootstrapRestoring = "BootstrapRestoring"

	// ReasonBootstrapRestored: the items of the snapshot were added.
	ReasonBootstrapRestored = "BootstrapRestored"

	// ReasonRestoreFailed: the Job that adds the items of a snapshot has failed. The message has the cause, and how to try
	// again.
	ReasonRestoreFailed = "RestoreFailed"
)

// Reasons of a MemcachedSnapshot, in its conditions Ready, Reconciling and Stalled. These conditions may also have the
// reasons SecretNotFound, OwnershipConflict and ApplyFailed, like the conditions of a Memcached.
const (
	// ReasonMemcachedNotFound: the cache does not exist. The save begins once the cache exists and is ready.
	ReasonMemcachedNotFound = "MemcachedNotFound"

	// ReasonMemcachedNotReady: the cache is not ready, or has no Pods. The save begins once the cache is ready.
	ReasonMemcachedNotReady = "MemcachedNotReady"

	// ReasonSaving: the Job saves the keys, or is about to. If its Pod does not start, the message has the cause.
	ReasonSaving = "Saving"

	// ReasonSaved: the snapshot is written completely.
	ReasonSaved = "Saved"

	// ReasonSaveFailed: the Job failed, and there is no snapshot. The operator does not try again: create another
	// MemcachedSnapshot.
	ReasonSaveFailed = "SaveFailed"
)

// AnnotationAdoptBy on a Deployment, Service, NetworkPolicy or PodDisruptionBudget without an owner names the Memcached
// that may adopt it. The annotation is on that object, and not on the Memcached, so that only a user with rights on the
// object can allow the adoption.
const AnnotationAdoptBy = "cache.example.com/adopt-by"

// AnnotationUpdateRequested on a Memcached makes the operator apply the pending update, once for each new value; use a
// timestamp as value.
const AnnotationUpdateRequested = "cache.example.com/update-requested"
