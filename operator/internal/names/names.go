// Package names holds every name that the operator writes into a cluster or looks for there: labels,
// annotations, ports, containers and the field owner. What stands here is part of the contract with running
// clusters: a changed selector label, for example, can't be applied to a Deployment that exists.
package names

const (
	// FieldOwner owns, in server-side apply, the fields that the operator sets.
	FieldOwner = "memcached-operator"

	// PauseOwner is the field manager that pauses a Deployment while a Memcached is suspended, and does nothing else. It is
	// the only mark of that.
	PauseOwner = "memcached-operator-pause"

	// LeaderElectionID is the name of the Lease by which one operator of several leads.
	LeaderElectionID = "memcached-operator.cache.example.com"
)

// Labels of every child object. The first two are the selector of the Operator SDK tutorial's operator, so
// that its Deployments can be taken over as they are. The app.kubernetes.io labels are for people and tools,
// and never part of a selector.
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
	// AnnotationAppliedHash tells what the operator applied last, so that a field which is no longer wanted is
	// noticed although the object still has it.
	AnnotationAppliedHash = "cache.example.com/applied-hash"

	// AnnotationTemplateInputs tells what the Pods are made of beside the spec (plan.Record), so that another operator
	// goes on to make them of the same.
	AnnotationTemplateInputs = "cache.example.com/template-inputs"

	// AnnotationTemplateRevision is on the Pods and tells by which revision of the template they were made.
	AnnotationTemplateRevision = "cache.example.com/template-revision"

	// AnnotationDefaultContainer is where kubectl looks for the container that logs and exec mean.
	AnnotationDefaultContainer = "kubectl.kubernetes.io/default-container"
)

const (
	// Container is the memcached container of a Pod.
	Container = "memcached"

	// Port is the name of the port that clients use.
	Port = "memcached"

	// PortNumber is its number, IANA's for memcached.
	PortNumber = int32(11211)

	// TLSPort is the name of the port that clients use TLS on.
	TLSPort = "memcached-tls"

	// TLSPortNumber is its number.
	TLSPortNumber = int32(11212)

	// Agent is the agent's container of a Pod.
	Agent = "agent"

	// MetricsPort is the name of the port where the agent serves metrics.
	MetricsPort = "metrics"

	// MetricsPortNumber is its number, that of the official memcached_exporter.
	MetricsPortNumber = int32(9150)

	// AgentProbePortNumber is where the agent tells of itself.
	AgentProbePortNumber = int32(9151)

	// TLSDir is where the Secret of the certificate is mounted, in both containers.
	TLSDir = "/etc/memcached/tls"

	// UsersDir is where the Secret of the users is mounted, in the agent alone.
	UsersDir = "/etc/memcached/users"

	// AuthDir is a folder that the agent writes and memcached reads.
	AuthDir = "/run/memcached"

	// AuthFile is the file with the users in it.
	AuthFile = AuthDir + "/users"

	// UserID is the user that the official memcached image runs as.
	UserID = int64(11211)
)

// Selector returns the labels that select the Pods of a Memcached. They can't change: a Deployment's selector
// is immutable.
func Selector(instance string) map[string]string {
	return map[string]string{LabelApp: App, LabelInstance: instance}
}

// Labels returns the labels of every child object of a Memcached.
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
