// Package names holds every name that the operator writes into a cluster or looks for there: labels, annotations,
// ports, containers and the field owner. They are part of the contract with running clusters: a changed selector
// label, for example, cannot be applied to an existing Deployment.
package names

// Labels, annotations, names of objects and of containers.

import (
	"strconv"
	"strings"
)

const (
	// FieldOwner is the field manager of the operator in server-side apply.
	FieldOwner = "memcached-operator"

	// PauseOwner is the field manager with which the operator pauses a Deployment while a Memcached is suspended, and for
	// nothing else. Its entry in the managed fields is the only record of a pause.
	PauseOwner = "memcached-operator-pause"

	// LeaderElectionID is the name of the Lease of the leader election.
	LeaderElectionID = "memcached-operator.cache.example.com"
)

// Labels of every managed object. The first two are the selector of the Operator SDK tutorial's operator, so that its
// Deployments can be adopted unchanged. The app.kubernetes.io labels are for people and tools, and never part of a
// selector.
const (
	LabelApp      = "app"
	LabelInstance = "memcached_cr"

	LabelAppName      = "app.kubernetes.io/name"
	LabelAppInstance  = "app.kubernetes.io/instance"
	LabelAppManagedBy = "app.kubernetes.io/managed-by"
	LabelAppComponent = "app.kubernetes.io/component"

	// App is the value of LabelApp and LabelAppName.
	App = "memcached"
)

const (
	// AnnotationAppliedHash is the hash of the object as the operator last applied it. With it, the operator recognizes
	// that the object still has a field that is no longer desired.
	AnnotationAppliedHash = "cache.example.com/applied-hash"

	// AnnotationTemplateInputs records what the Pods are made from besides the spec (plan.Record): images,
	// architectures, platform and template revision. After an upgrade the operator renders the same Pods from it.
	AnnotationTemplateInputs = "cache.example.com/template-inputs"

	// AnnotationTemplateRevision is on the Pods: the revision of the template that rendered them.
	AnnotationTemplateRevision = "cache.example.com/template-revision"

	// AnnotationHandoff is on the Pods of a cache with slots: what the agent does, and what the operator remembers about
	// the Pod (instruction.Instruction).
	AnnotationHandoff = "cache.example.com/handoff"

	// AnnotationSlots is on the EndpointSlice of a cache with slots: how many slots clients' lists have.
	AnnotationSlots = "cache.example.com/slots"

	// AnnotationDiscovery is on the Pods that answer clients with auto discovery: the servers of the cache
	// (discovery.List).
	AnnotationDiscovery = "cache.example.com/discovery"

	// LabelDiscovery selects the Pods that answer clients with auto discovery. Its value is "true".
	LabelDiscovery = "cache.example.com/discovery"

	// AnnotationBootstrap is on the Pod that copies the keys of other servers: what it does (instruction.Phase). On its
	// Deployment, it records that clients may use both the other servers and the cache.
	AnnotationBootstrap = "cache.example.com/bootstrap"

	// LabelBinding is on the Secret of a binding. Its value is "true". The operator caches no other Secrets.
	LabelBinding = "cache.example.com/binding"

	// AnnotationBound is on the Secret of a binding: the versions of the Secrets that it copies.
	AnnotationBound = "cache.example.com/bound-versions"

	// LabelSnapshot is on the Job and the Pods that save or restore a cache. Its value is the Memcached's name. A
	// NetworkPolicy may admit Pods with this label, and the operator caches only Jobs with it.
	LabelSnapshot = "cache.example.com/snapshot"

	// AnnotationServers is on a Job that saves or restores: the names of the servers that the cache had when the Job
	// was created.
	AnnotationServers = "cache.example.com/servers"

	// AnnotationRestores is on a Job that restores: the source that the spec requested (plan.SourceOf). It is needed
	// because a Job can't be changed when the spec changes.
	AnnotationRestores = "cache.example.com/restores"

	// AnnotationRevision numbers the ReplicaSets of a Deployment: the ReplicaSet that the Deployment scales up has the
	// highest revision. An undo gives an old ReplicaSet a new revision. The Deployment controller writes the revision to
	// the ReplicaSet first, then to the Deployment (pkg/controller/deployment/util of Kubernetes).
	AnnotationRevision = "deployment.kubernetes.io/revision"

	// AnnotationDefaultContainer selects the container for kubectl logs and kubectl exec.
	AnnotationDefaultContainer = "kubectl.kubernetes.io/default-container"
)

const (
	// Container is the memcached container of a Pod.
	Container = "memcached"

	// Port is the name of the port that clients use.
	Port = "memcached"

	// PortNumber is the number of Port, the one that IANA assigned to memcached.
	PortNumber = int32(11211)

	// TLSPort is the name of the port that clients use with TLS.
	TLSPort = "memcached-tls"

	// TLSPortNumber is the number of TLSPort.
	TLSPortNumber = int32(11212)

	// Agent is the agent's container of a Pod.
	Agent = "agent"

	// MetricsPort is the name of the port on which the agent serves metrics.
	MetricsPort = "metrics"

	// MetricsPortNumber is the number of MetricsPort, the same as that of the official memcached_exporter.
	MetricsPortNumber = int32(9150)

	// AgentProbePortNumber is the port on which the agent serves its probes.
	AgentProbePortNumber = int32(9151)

	// DiscoveryPort is the name of the port on which the agent answers clients with auto discovery.
	DiscoveryPort = "discovery"

	// DiscoveryPortNumber is the number of DiscoveryPort.
	DiscoveryPortNumber = int32(9152)

	// DiscoveryTLSPort is the name of the port on which the agent answers such clients with TLS.
	DiscoveryTLSPort = "discovery-tls"

	// DiscoveryTLSPortNumber is the number of DiscoveryTLSPort.
	DiscoveryTLSPortNumber = int32(9153)

	// TLSDir is where both containers mount the Secret of the certificate.
	TLSDir = "/etc/memcached/tls"

	// UsersDir is where the agent mounts the Secret of the users.
	UsersDir = "/etc/memcached/users"

	// AuthDir is a folder that the agent writes and memcached reads.
	AuthDir = "/run/memcached"

	// AuthFile is the file with the users.
	AuthFile = AuthDir + "/users"

	// HandoffDir is where the agent mounts the Pod's annotation AnnotationHandoff.
	HandoffDir = "/run/handoff"

	// HandoffFile is the file with the instruction.
	HandoffFile = HandoffDir + "/handoff"

	// KeysDir is where the agent lists the keys that it copies: the folder of temporary files.
	KeysDir = "/tmp"

	// DiscoveryDir is where the agent mounts the Pod's annotation AnnotationDiscovery.
	DiscoveryDir = "/run/discovery"

	// DiscoveryFile is the file with the list of servers.
	DiscoveryFile = DiscoveryDir + "/list"

	// BootstrapDir is where the Pod that copies the keys of other servers mounts its annotation AnnotationBootstrap.
	BootstrapDir = "/run/bootstrap"

	// BootstrapFile is the file with the phase of that Pod.
	BootstrapFile = BootstrapDir + "/phase"

	// StateDir is a folder in which the Pod that copies the keys of other servers records that clients may use both the
	// other servers and the cache.
	StateDir = "/run/state"

	// StateFile is the file with the record in StateDir.
	StateFile = StateDir + "/copied"

	// FromTLSDir is where the Pod that copies the keys of other servers mounts the Secret with the certificates for these
	// servers.
	FromTLSDir = "/etc/memcached/from-tls"

	// FromUsersDir is where the Pod that copies the keys of other servers mounts the Secret with the login for these
	// servers.
	FromUsersDir = "/etc/memcached/from-users"

	// Snapshot is the container that saves or restores a cache.
	Snapshot = "snapshot"

	// CredentialsDir is where the container Snapshot mounts the Secret with the credentials for a bucket.
	CredentialsDir = "/etc/memcached/credentials"

	// CredentialsFile is the file with the key of a service account of Google Cloud.
	CredentialsFile = CredentialsDir + "/key.json"

	// SnapshotsDir is where the container Snapshot mounts the volume for snapshots.
	SnapshotsDir = "/snapshots"

	// UserID is the ID of the user that the official memcached image runs as.
	UserID = int64(11211)
)

// HasSlot is the readiness gate of Pods of a cache with slots: only a Pod that holds a slot is ready.
const HasSlot = "cache.example.com/has-slot"

// SliceManager is the value of the label endpointslice.kubernetes.io/managed-by of the operator's EndpointSlices.
const SliceManager = LeaderElectionID

// SlotService returns the name of the headless Service of a Memcached's slots.
func SlotService(instance string) string { return instance + "-slots" }

// DiscoveryService returns the name of the Service behind which agents answer clients with auto discovery.
func DiscoveryService(instance string) string { return instance + "-discovery" }

// SlotName returns the name of a slot: its host name below the Service of the slots.
func SlotName(instance string, number int) string { return instance + "-" + strconv.Itoa(number) }

// SlotNumber returns the number of the slot of a Memcached that has this name, and whether it is the name of a slot.
func SlotNumber(instance, name string) (int, bool) {
	digits, found := strings.CutPrefix(name, instance+"-")
	number, err := strconv.Atoi(digits)
	return number, found && err == nil && number >= 0 && name == SlotName(instance, number)
}

// Bootstrap returns the name of the Deployment whose Pod copies the keys of other servers into a Memcached.
func Bootstrap(instance string) string { return instance + "-bootstrap" }

// Restore returns the name of the Job that restores a snapshot into a Memcached.
func Restore(instance string) string { return instance + "-restore" }

// bootstrapSuffix is the end of the value of LabelInstance on the Pod of a bootstrap. No Memcached has such a name.
const bootstrapSuffix = "_bootstrap"

// BootstrapInstance returns the value of LabelInstance on the Pod of a bootstrap, which differs from that on the
// Memcached's own Pods.
func BootstrapInstance(instance string) string { return instance + bootstrapSuffix }

// MemcachedOf returns the name of the Memcached for a value of LabelInstance.
func MemcachedOf(instance string) string { return strings.TrimSuffix(instance, bootstrapSuffix) }

// DeploymentOf returns the name of the Deployment whose Pods have this value of LabelInstance.
func DeploymentOf(instance string) string {
	if memcached, ok := strings.CutSuffix(instance, bootstrapSuffix); ok {
		return Bootstrap(memcached)
	}
	return instance
}

// EndpointSliceName returns the name of a Service's EndpointSlice for an IP family.
func EndpointSliceName(service string, family string) string {
	return service + "-" + strings.ToLower(family)
}

// Selector returns the labels that select the Pods of a Memcached. They cannot change: a Deployment's selector is
// immutable.
func Selector(instance string) map[string]string {
	return map[string]string{LabelApp: App, LabelInstance: instance}
}

// Labels returns the labels of every managed object of a Memcached.
func Labels(instance string) map[string]string {
	return map[string]string{
		LabelApp:          App,
		LabelInstance:     instance,
		LabelAppName:      App,
		LabelAppInstance:  instance,
		LabelAppComponent: "cache",
		LabelAppManagedBy: FieldOwner,
	}
}
