package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// MemcachedSpec is the desired state of a cache.
//
// memcached's own settings (memory, maxItemSize, maxConnections, threads, extraArgs) are at the top and not in a
// separate object: they are what a cache is about, and the first that its users write. Everything about Kubernetes
// is in an object by topic.
//
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.autoscaling) || !has(oldSelf.autoscaling.memory) || oldSelf.autoscaling.memory.mode != 'Act' || has(self.memory) || (has(self.autoscaling) && has(self.autoscaling.memory) && self.autoscaling.memory.mode == 'Act')",message="memory must be set when autoscaling.memory.mode is no longer Act, as the Pods would get 64Mi: set it to status.autoscaling.memory.current"
// +kubebuilder:validation:XValidation:rule="!has(self.autoscaling) || !has(self.autoscaling.memory) || self.autoscaling.memory.mode != 'Act' || !has(self.memory)",message="memory and autoscaling.memory with the mode Act set the same: remove memory, or set the mode to Observe"
// +kubebuilder:validation:XValidation:rule="!has(self.autoscaling) || !has(self.autoscaling.memory) || self.autoscaling.memory.mode != 'Act' || has(self.slots) && has(self.rollout) && has(self.rollout.memoryChange) && self.rollout.memoryChange == 'Resize'",message="autoscaling.memory with the mode Act needs slots, and rollout.memoryChange Resize: otherwise each step would replace the Pods. Add both, or set the mode to Observe"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.autoscaling) || !has(oldSelf.autoscaling.size) || oldSelf.autoscaling.size.mode != 'Act' || !has(self.autoscaling) || !has(self.autoscaling.size) || self.autoscaling.size.mode != 'Act' || self.size == oldSelf.size || self.size == 1",message="size can't be changed while autoscaling.size.mode is Act, which chooses it: omit size, and remove the HorizontalPodAutoscaler, or set the mode to Observe"
// +kubebuilder:validation:XValidation:rule="!has(self.autoscaling) || !has(self.autoscaling.size) || self.autoscaling.size.mode != 'Act' || has(self.slots) && has(self.slots.clientHash) && (!has(self.slots.handoff) || self.slots.handoff.mode == 'Auto')",message="autoscaling.size with the mode Act needs slots.clientHash, and slots.handoff.mode Auto: otherwise each step would lose the keys that move. Set both, or set the mode to Observe"
// +kubebuilder:validation:XValidation:rule="!has(self.autoscaling) || !has(self.autoscaling.memory) || !has(self.autoscaling.size) || self.autoscaling.memory.mode != 'Act' || self.autoscaling.size.mode != 'Act'",message="autoscaling.memory and autoscaling.size, both with the mode Act, would each answer the same signal, and undo the other's steps: set the mode of one to Observe"
type MemcachedSpec struct {
	// size is the number of memcached Pods, 0 to 1000. A change replaces no Pod. Defaults to 1. A
	// HorizontalPodAutoscaler sets it through the scale subresource, or autoscaling.size chooses it: omit it from Git
	// then.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Size *int32 `json:"size,omitempty"`

	// image is the memcached image, with or without tag and digest, 1 to 512 characters. Defaults to the image that
	// this version of the operator was released with (the environment variable RELATED_IMAGE_MEMCACHED of the
	// operator).
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// imagePullPolicy is when the kubelet pulls the images of a Pod, of memcached and of the agent: Always,
	// IfNotPresent or Never. Defaults to Always for an image with the tag latest or with neither tag nor digest, and to
	// IfNotPresent for any other, as in Kubernetes. A value that differs from that of the Pods replaces them.
	// +optional
	ImagePullPolicy ImagePullPolicy `json:"imagePullPolicy,omitempty"`

	// imagePullSecrets are Secrets in the same namespace to pull the images with, at most 16. Defaults to none.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	ImagePullSecrets []LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// memory is the memory for items of one Pod (memcached's -m), 16Mi to 4Ti, rounded down to whole mebibytes.
	// Defaults to 64Mi, which is memcached's own default. The container gets more than that: see resources.
	// +optional
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('16Mi')) >= 0",message="memory must be a quantity of at least 16Mi, such as 64Mi; a number without a unit counts bytes"
	// +kubebuilder:validation:XValidation:rule="!isQuantity(string(self)) || quantity(string(self)).compareTo(quantity('4Ti')) <= 0",message="memory must be at most 4Ti per Pod: raise size to spread the cache over more Pods"
	Memory *resource.Quantity `json:"memory,omitempty"`

	// maxItemSize is the size of the largest item (memcached's -I), 512Ki to 1Gi, a multiple of 512Ki, and at most half
	// of memory. memcached keeps large items in chunks of 512Ki and does not start otherwise. Defaults to 1Mi.
	// +optional
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('512Ki')) >= 0",message="maxItemSize must be a quantity of at least 512Ki, memcached's chunk of a large item, such as 2Mi; a number without a unit counts bytes"
	// +kubebuilder:validation:XValidation:rule="!isQuantity(string(self)) || quantity(string(self)).compareTo(quantity('1Gi')) <= 0",message="maxItemSize must be at most 1Gi, which is memcached's limit: split larger values"
	MaxItemSize *resource.Quantity `json:"maxItemSize,omitempty"`

	// maxConnections is the maximum number of client connections of one Pod, 16 to 200000. memcached answers further
	// ones with an error and closes them. memcached's -c, which also counts its own descriptors, is set higher.
	// Defaults to 1024.
	// +optional
	// +kubebuilder:validation:Minimum=16
	// +kubebuilder:validation:Maximum=200000
	MaxConnections *int32 `json:"maxConnections,omitempty"`

	// threads is the number of worker threads of one Pod (memcached's -t), 1 to 64. More threads than the Node has
	// cores bring nothing. Defaults to the CPUs that resources request, rounded up and at least 4; a CPU limit,
	// rounded up, bounds that.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	Threads *int32 `json:"threads,omitempty"`

	// extraArgs are additional arguments of memcached, at most 64 of at most 512 characters each. Arguments that the
	// operator sets (port, memory, threads, TLS and so on) are refused by name, and so is $(NAME), which the kubelet would
	// replace. Defaults to none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	ExtraArgs []string `json:"extraArgs,omitempty"`

	// resources are the resource requirements of the memcached container. Defaults to a memory limit that is large enough
	// for items, connections and threads when all of them are busy, a memory request for an ordinary load (see profile),
	// and a CPU request of 50m without a limit. A smaller memory limit is refused, with the number that is needed.
	// +optional
	Resources *MemcachedResources `json:"resources,omitempty"`

	// agent configures the container next to memcached that serves metrics and reloads changed Secrets.
	// +optional
	Agent *Agent `json:"agent,omitempty"`

	// placement is where Pods may run. The operator merges affinity with the node affinity for architectures, and never
	// replaces that.
	// +optional
	Placement *Placement `json:"placement,omitempty"`

	// rollout is how Pods are replaced.
	// +optional
	Rollout *Rollout `json:"rollout,omitempty"`

	// slots gives each Pod a place with a name that stays when the Pod is replaced; {} are slots with DNS names and
	// handoff. Adding or removing slots would replace the Pods, so it is pending until the next rollout. Defaults to none:
	// clients know the Pods by their addresses.
	// +optional
	Slots *Slots `json:"slots,omitempty"`

	// bootstrap fills the cache with the keys of other memcached servers, such as those of a Helm chart, or of a snapshot,
	// before clients use it. From servers, what the cache held is removed, and a second Deployment NAME-bootstrap copies
	// the keys; remove bootstrap once all clients use the cache, and only then the other servers. It needs
	// slots.clientHash. From a snapshot, it needs slots, and may stay in the spec. A change replaces no Pod. Defaults to
	// none: the cache starts empty.
	// +optional
	Bootstrap *Bootstrap `json:"bootstrap,omitempty"`

	// discovery makes a Service NAME-discovery behind which clients with auto discovery (config get cluster, the protocol
	// of Amazon ElastiCache) learn the memcached servers; {} turns it on. A change replaces the Pods. Defaults to none:
	// clients use the endpoint of the status.
	// +optional
	Discovery *Discovery `json:"discovery,omitempty"`

	// binding makes a Secret with what a client needs to connect: host, port, user, password, CA. The operator needs
	// further rights for it. A change replaces no Pod. Defaults to none.
	// +optional
	Binding *Binding `json:"binding,omitempty"`

	// autoscaling finds from the use of the cache how much memory, or how many Pods, it needs, and can set that. A change
	// replaces no Pod. Defaults to none.
	// +optional
	Autoscaling *Autoscaling `json:"autoscaling,omitempty"`

	// updatePolicy is when new defaults of the operator, such as another default image, reach running Pods: OnSpecChange,
	// with the next change to the spec that replaces the Pods, or Automatic, immediately. A change replaces no Pod, except
	// that Automatic applies a pending update. Defaults to OnSpecChange.
	// +optional
	UpdatePolicy UpdatePolicy `json:"updatePolicy,omitempty"`

	// disruption limits how many Pods may be unavailable while Nodes are drained. A change replaces no Pod.
	// +optional
	Disruption *Disruption `json:"disruption,omitempty"`

	// terminationDelaySeconds is how long a Pod continues to answer after it was instructed to stop, in seconds, 0 to 600:
	// time for its address to leave the DNS answers that clients cache. It holds for every end of a Pod: a rollout, a
	// smaller size, an eviction. With slots it begins when another Pod has the slot. memcached then has 15 seconds to
	// stop. Defaults to 30. A change replaces the Pods.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=600
	TerminationDelaySeconds *int32 `json:"terminationDelaySeconds,omitempty"`

	// commonMetadata is added to the objects that the operator creates: Services, Deployment, NetworkPolicy,
	// PodDisruptionBudget, EndpointSlices and the Secret of a binding. Pods do not get it: see podTemplate. A change
	// replaces no Pod.
	// +optional
	CommonMetadata *Metadata `json:"commonMetadata,omitempty"`

	// podTemplate is what the Pods have besides memcached, its agent and their placement.
	// +optional
	PodTemplate *PodTemplate `json:"podTemplate,omitempty"`

	// service configures the Service. A change replaces no Pod.
	// +optional
	Service *Service `json:"service,omitempty"`

	// tls encrypts the connections of clients, on port 11212. Defaults to no TLS.
	// +optional
	TLS *TLS `json:"tls,omitempty"`

	// auth requires a user and a password of clients. Defaults to none.
	// +optional
	Auth *Auth `json:"auth,omitempty"`

	// metrics configures the metrics of the Pods for Prometheus.
	// +optional
	Metrics *Metrics `json:"metrics,omitempty"`

	// networkPolicy is who may connect to the Pods. A change replaces no Pod.
	// +optional
	NetworkPolicy *NetworkPolicy `json:"networkPolicy,omitempty"`

	// suspend stops the operator from writing anything but the status. It pauses a rollout in progress; it resumes when
	// suspend is false. A change replaces no Pod. Defaults to false.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// ImagePullPolicy is when the kubelet pulls an image.
//
// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
type ImagePullPolicy string

// LocalObjectReference refers to an object in the same namespace, as in Kubernetes' own API, but with bounds.
type LocalObjectReference struct {
	// name is the name of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
}

// Resources are the resource requirements of a container, by resource name such as cpu and memory.
type Resources struct {
	// limits are the maximum amounts of resources that the container may use, at most 12. Defaults to derived
	// values: see the parent field.
	// +optional
	// +kubebuilder:validation:MaxProperties=12
	// +kubebuilder:validation:XValidation:rule="self.all(name, isQuantity(string(self[name])))",message="limits must be quantities, such as 500m of cpu or 256Mi of memory"
	Limits corev1.ResourceList `json:"limits,omitempty"`

	// requests are the amounts of resources that are reserved for the container, at most 12. Defaults to derived
	// values: see the parent field.
	// +optional
	// +kubebuilder:validation:MaxProperties=12
	// +kubebuilder:validation:XValidation:rule="self.all(name, isQuantity(string(self[name])))",message="requests must be quantities, such as 500m of cpu or 256Mi of memory"
	Requests corev1.ResourceList `json:"requests,omitempty"`
}

// ResourcesProfile is how much memory is reserved for a container.
// +kubebuilder:validation:Enum=Burstable;Guaranteed
type ResourcesProfile string

const (
	// ResourcesBurstable reserves what an ordinary load needs, and leaves the rest of the limit to who needs it first.
	ResourcesBurstable ResourcesProfile = "Burstable"

	// ResourcesGuaranteed reserves all that the container may use.
	ResourcesGuaranteed ResourcesProfile = "Guaranteed"
)

// MemcachedResources are the resource requirements of the memcached container.
type MemcachedResources struct {
	Resources `json:",inline"`

	// profile determines the memory request where requests have none. Burstable requests what a full cache needs under an
	// ordinary load: all connections are open, and a tenth of them are busy. Guaranteed requests as much as the limit, so
	// that a Node that runs out of memory takes it from other Pods first. A change replaces the Pods. Defaults to
	// Burstable.
	// +optional
	Profile ResourcesProfile `json:"profile,omitempty"`
}

// Agent configures the container next to memcached that serves metrics and reloads changed Secrets.
type Agent struct {
	// resources are the resource requirements of the agent's container. Defaults to requests of 10m CPU and 32Mi memory,
	// and a memory limit of 64Mi, without a CPU limit. A larger memory request raises the limit, a smaller CPU limit
	// lowers the request. A memory limit below 32Mi is refused. Without an agent (no TLS, no auth, metrics Disabled) it
	// has no effect.
	// +optional
	Resources *Resources `json:"resources,omitempty"`
}
