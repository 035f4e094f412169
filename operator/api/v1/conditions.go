package v1

// Condition types of a Memcached, as kstatus defines them
// (https://github.com/kubernetes-sigs/cli-utils/tree/master/pkg/kstatus).
const (
	// ConditionReady is always set. It is True while all Pods of the desired size are up to date and ready.
	ConditionReady = "Ready"

	// ConditionReconciling is set, with status True, while the operator or the cluster works towards the spec.
	// status.progressingSince is when that began for the current generation of the spec.
	ConditionReconciling = "Reconciling"

	// ConditionStalled is set, with status True, while nothing will change without a user's action.
	ConditionStalled = "Stalled"

	// ConditionSuspended is set, with status True, while spec.suspend is true. Ready still reports the state of the
	// Pods.
	ConditionSuspended = "Suspended"

	// ConditionUpdatePending is True while the defaults of the operator, newer or older, differ from those that the
	// Pods were created from, and False otherwise, so that clients can wait for either. Its message lists the
	// differences. It does not reflect the health of the Pods: Ready may be True as well.
	ConditionUpdatePending = "UpdatePending"

	// ConditionRestartRequired is set, with status True, while Pods still accept something that was removed from a
	// Secret: clients of a removed CA, or open connections of a removed user. Its message names the CAs and the command
	// that restarts the Pods. It is removed once all of them have restarted. It does not reflect the health of the Pods.
	ConditionRestartRequired = "RestartRequired"

	// ConditionCertificateIncomplete is set, with status True, while the certificate does not have all names of slots
	// and of discovery, so that clients that verify names refuse it. Its message lists the names and has the fix. It does
	// not reflect the health of the Pods: Ready may be True as well.
	ConditionCertificateIncomplete = "CertificateIncomplete"

	// ConditionBootstrapped is set while spec.bootstrap is. It is True while clients may use the other servers and the
	// cache at the same time, or once a snapshot is restored, and False before. It does not reflect the health of the
	// Pods: Ready may be True as well.
	ConditionBootstrapped = "Bootstrapped"

	// ConditionAsUsual is set while spec.autoscaling is. It is False while the use of the cache deviates from its usual
	// day, and Unknown until that is learned. It does not reflect the health of the Pods: Ready may be True as well.
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

	// ReasonHandingOver: Pods are being replaced, and slots are moving from them to other Pods. The message says how many,
	// and how long a Pod that terminates keeps its slot at most.
	ReasonHandingOver = "HandingOver"

	// ReasonResizing: running Pods get the memory of the spec, without a restart. The message says how many, and what a
	// Pod waits for.
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

	// ReasonCertificateUnavailable: tls.issuerRef requests a certificate, and the cluster does not have cert-manager, or
	// the operator does not have the rights. The rest of the spec is applied.
	ReasonCertificateUnavailable = "CertificateUnavailable"

	// ReasonInvalidSecret: memcached could not use the content of a Secret. The message names the entry, and nothing of
	// its content. Running Pods are not changed and keep what they loaded.
	ReasonInvalidSecret = "InvalidSecret"

	// ReasonCertificateExpired: the certificate in the Secret has expired. Pods serve it, and clients refuse it.
	ReasonCertificateExpired = "CertificateExpired"

	// ReasonOwnershipConflict: an object that the cache needs already exists and the Memcached does not own it. The
	// operator does not change it.
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
	// ReasonDefaultsDiffer: the defaults of the operator differ from those that the Pods were created from. It does not
	// apply them, because they would replace the Pods. After a downgrade the operator's defaults are the older ones. The
	// reason is the same if the spec changes the memory of Pods without slots while rollout.memoryChange is Resize.
	ReasonDefaultsDiffer = "DefaultsDiffer"

	// ReasonUpdateQueued: the same as DefaultsDiffer, and updatePolicy is Automatic. The message says what the update
	// waits for: usually the updates of other caches, because the operator makes at most --max-concurrent-updates at a
	// time.
	ReasonUpdateQueued = "UpdateQueued"

	// ReasonNoUpdatePending: the Pods were created from the current defaults of the operator.
	ReasonNoUpdatePending = "NoUpdatePending"

	// ReasonUpdateInProgress: the operator has applied its defaults, because updatePolicy is Automatic, and the cache
	// is not Ready again yet.
	ReasonUpdateInProgress = "UpdateInProgress"
)

// Reasons of the RestartRequired condition. If both hold, the reason is ClientCARemoved, and the message names both: a
// client of a removed CA can still open connections, a removed user can only keep those that are open.
const (
	// ReasonClientCARemoved: a client CA was removed from the Secret. Memcached does not drop a client CA while it runs.
	ReasonClientCARemoved = "ClientCARemoved"

	// ReasonUserRemoved: a user or a password was removed from the Secret. Memcached checks the password only when a
	// connection begins.
	ReasonUserRemoved = "UserRemoved"
)

// Reasons of the CertificateIncomplete condition.
const (
	// ReasonNamesMissing: the certificate does not cover the addresses of all slots, or that of discovery.
	ReasonNamesMissing = "NamesMissing"
)

// Reasons of the AsUsual condition. If there are several deviations, the reason is the first of this list, and the
// message has all of them.
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

	// ReasonLearning: what is usual is being learned. The message says until when.
	ReasonLearning = "Learning"

	// ReasonNotReported: no Pod reports how it is used, so that deviations are not found.
	ReasonNotReported = "NotReported"
)

// Reasons of the Bootstrapped condition.
const (
	// ReasonBootstrapWaiting: no key is copied yet, because a slot has no Pod, the Pod that copies the keys has not
	// started, or what the message names is missing.
	ReasonBootstrapWaiting = "BootstrapWaiting"

	// ReasonBootstrapCopying: the keys are being copied for the first time.
	ReasonBootstrapCopying = "BootstrapCopying"

	// ReasonBootstrapFollowing: all keys are copied, and each one is copied again that changes in the other servers.
	ReasonBootstrapFollowing = "BootstrapFollowing"

	// ReasonBootstrapCuttingOver: spec.bootstrap.mode is CutOver, and not all changes are copied yet.
	ReasonBootstrapCuttingOver = "BootstrapCuttingOver"

	// ReasonBootstrapCutOver: clients may use both, the other servers and the cache.
	ReasonBootstrapCutOver = "BootstrapCutOver"

	// ReasonBootstrapResuming: clients may use both, but the Pod that copies the keys has started again, and removes all
	// keys from both. Until then, clients may read outdated values.
	ReasonBootstrapResuming = "BootstrapResuming"

	// ReasonBootstrapFailed: the last attempt failed, and the next one begins again. The message has the cause and the
	// fix.
	ReasonBootstrapFailed = "BootstrapFailed"

	// ReasonBootstrapRestoring: the items of a snapshot are being added.
	ReasonBootstrapRestoring = "BootstrapRestoring"

	// ReasonBootstrapRestored: the items of the snapshot were added.
	ReasonBootstrapRestored = "BootstrapRestored"

	// ReasonRestoreFailed: the Job that adds the items of a snapshot has failed. The message has the cause, and how to try
	// again.
	ReasonRestoreFailed = "RestoreFailed"
)

// Reasons of a MemcachedSnapshot, of its conditions Ready, Reconciling and Stalled. In addition, these may have
// SecretNotFound, OwnershipConflict or ApplyFailed, as the conditions of a Memcached may.
const (
	// ReasonMemcachedNotFound: the cache does not exist. The snapshot begins once it is ready.
	ReasonMemcachedNotFound = "MemcachedNotFound"

	// ReasonMemcachedNotReady: the cache is not ready, or has no Pods. The snapshot begins once it is ready.
	ReasonMemcachedNotReady = "MemcachedNotReady"

	// ReasonSaving: the Job saves the keys, or is about to. If its Pod does not start, the message has the cause.
	ReasonSaving = "Saving"

	// ReasonSaved: the snapshot is written, and whole.
	ReasonSaved = "Saved"

	// ReasonSaveFailed: the Job failed, and there is no snapshot. It is not tried again: create another MemcachedSnapshot.
	ReasonSaveFailed = "SaveFailed"
)

// AnnotationAdoptBy on a Deployment, Service, NetworkPolicy or PodDisruptionBudget without an owner names the Memcached
// that may adopt it. It is on that object, and not on the Memcached, so that only those with rights on the object can
// allow it.
const AnnotationAdoptBy = "cache.example.com/adopt-by"

// AnnotationUpdateRequested on a Memcached applies the pending update. Each new value does so once; use a timestamp.
const AnnotationUpdateRequested = "cache.example.com/update-requested"
