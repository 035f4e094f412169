package v1

// Condition types of a Memcached, as kstatus defines them
// (https://github.com/kubernetes-sigs/cli-utils/tree/master/pkg/kstatus).
const (
	// ConditionReady is always there. It is True while every node of the wanted size is up to date and answers.
	ConditionReady = "Ready"

	// ConditionReconciling is there, as True, while the cache is on its way to what the spec says. Its time is when that
	// began for the current generation of the spec.
	ConditionReconciling = "Reconciling"

	// ConditionStalled is there, as True, while nothing will change before somebody acts.
	ConditionStalled = "Stalled"

	// ConditionSuspended is there, as True, while spec.suspend is set. Ready then still tells of the Pods.
	ConditionSuspended = "Suspended"

	// ConditionUpdatePending is True while the operator has other defaults than those that the Pods were made of, newer
	// or older ones, and False otherwise, so that clients can wait for either. Its message says which. It says nothing
	// of the Pods' health: Ready may be True beside it.
	ConditionUpdatePending = "UpdatePending"

	// ConditionFormerClientCAs is there, as True, while nodes still let in clients of a CA that was removed from the
	// Secret. Its message says which, and how to restart the nodes. It goes when all of them were started since.
	ConditionFormerClientCAs = "FormerClientCAsAccepted"

	// ConditionFormerUsers is there, as True, while connections to nodes may still be logged in as somebody who was
	// removed from the Secret. Its message says how to restart the nodes. It goes when all of them were started since.
	ConditionFormerUsers = "FormerUsersLoggedIn"
)

// Reasons of the Ready condition. Reconciling and Stalled carry the same reason as Ready.
const (
	// ReasonAllPodsReady: every node is up to date and answers.
	ReasonAllPodsReady = "AllPodsReady"

	// ReasonScaledToZero: the size is 0, so there is nothing to wait for.
	ReasonScaledToZero = "ScaledToZero"

	// ReasonRollingOut: nodes are being added, replaced or removed.
	ReasonRollingOut = "RollingOut"

	// ReasonPodsNotReady: nodes are missing or do not answer. The message says why, in the cluster's words.
	ReasonPodsNotReady = "PodsNotReady"

	// ReasonProgressDeadlineExceeded: nodes are missing or do not answer, and none became ready for
	// rollout.progressDeadlineSeconds. The message says why, in the cluster's words.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"

	// ReasonInvalidSpec: the spec asks for something impossible. The nodes that run are left as they are.
	ReasonInvalidSpec = "InvalidSpec"

	// ReasonSecretNotFound: a Secret that the spec names is not there. The nodes that run are left as they are.
	ReasonSecretNotFound = "SecretNotFound"

	// ReasonInvalidSecret: a Secret holds what memcached could not use. The message says what, and nothing of the
	// Secret's content. The nodes that run are left as they are, with what they had.
	ReasonInvalidSecret = "InvalidSecret"

	// ReasonCertificateExpired: the certificate in the Secret has ended. Nodes serve it, and clients refuse it.
	ReasonCertificateExpired = "CertificateExpired"

	// ReasonOwnershipConflict: an object that the cache needs is there already and belongs to somebody else.
	// It is left as it is.
	ReasonOwnershipConflict = "OwnershipConflict"

	// ReasonFieldManagerConflict: somebody changes an object of the cache each time that the operator puts it right. The
	// message names who, what and the remedy. The operator gives way for a while, at most ten minutes, then tries again.
	ReasonFieldManagerConflict = "FieldManagerConflict"

	// ReasonApplyFailed: the API server refused an object of the cache, or could not be reached. The
	// operator tries again.
	ReasonApplyFailed = "ApplyFailed"

	// ReasonSuspended: the operator writes nothing, because spec.suspend says so.
	ReasonSuspended = "Suspended"
)

// Reasons of the UpdatePending condition.
const (
	// ReasonDefaultsDiffer: the operator has other defaults than those that the Pods were made of. It does not apply
	// them, because they would replace the Pods. After a downgrade the operator's defaults are the older ones.
	ReasonDefaultsDiffer = "DefaultsDiffer"

	// ReasonUpdateQueued: likewise, and updatePolicy is Automatic. The operator updates other caches first: at most
	// --max-concurrent-updates at a time.
	ReasonUpdateQueued = "UpdateQueued"

	// ReasonNoUpdatePending: the operator would make the Pods as they are.
	ReasonNoUpdatePending = "NoUpdatePending"

	// ReasonUpdateInProgress: the operator has applied its defaults, because updatePolicy is Automatic, and the cache is
	// not Ready again yet.
	ReasonUpdateInProgress = "UpdateInProgress"
)

// ReasonClientCARemoved is the reason of FormerClientCAsAccepted: memcached forgets no client CA while it runs.
const ReasonClientCARemoved = "ClientCARemoved"

// ReasonUserRemoved is the reason of FormerUsersLoggedIn: memcached asks for a password when a connection begins, and
// not again.
const ReasonUserRemoved = "UserRemoved"

// AnnotationAdoptBy on a Deployment, Service, NetworkPolicy or PodDisruptionBudget that has no owner names the
// Memcached that may take it over. It is on that object, and not on the Memcached, so that whoever writes it has rights
// there.
const AnnotationAdoptBy = "cache.example.com/adopt-by"

// AnnotationUpdateRequested on a Memcached lets in what UpdatePending tells of. Each new value does so once; a point in
// time is a good one.
const AnnotationUpdateRequested = "cache.example.com/update-requested"
