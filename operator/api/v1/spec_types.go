package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// MemcachedSpec is the desired state of a cache.
//
// memcached's own settings (memory, maxItemSize, maxConnections, threads, extraArgs) are fields of the spec itself and
// not of a separate object, because they are what a cache is about, and what its users write first. Settings of
// Kubernetes are grouped in objects by topic.
//
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.autoscaling) || !has(oldSelf.autoscaling.memory) || oldSelf.autoscaling.memory.mode != 'Act' || has(self.memory) || (has(self.autoscaling) && has(self.autoscaling.memory) && self.autoscaling.memory.mode == 'Act')",message="memory must be set when autoscaling.memory.mode is no longer Act, because the Pods would otherwise get 64Mi: set it to status.autoscaling.memory.current"
// +kubebuilder:validation:XValidation:rule="!has(self.autoscaling) || !has(self.autoscaling.memory) || self.autoscaling.memory.mode != 'Act' || !has(self.memory)",message="memory and autoscaling.memory with the mode Act both set the memory of the Pods: remove memory, or set the mode to Observe"
// +kubebuilder:validation:XValidation:rule="!has(self.autoscaling) || !has(self.autoscaling.memory) || self.autoscaling.memory.mode != 'Act' || has(self.slots) && has(self.rollout) && has(self.rollout.memoryChange) && self.rollout.memoryChange == 'Resize'",message="autoscaling.memory with the mode Act needs slots, and rollout.memoryChange Resize: otherwise each step would replace the Pods. Add both, or set the mode to Observe"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.autoscaling) || !has(oldSelf.autoscaling.size) || oldSelf.autoscaling.size.mode != 'Act' || !has(self.autoscaling) || !has(self.autoscaling.size) || self.autoscaling.size.mode != 'Act' || self.size == oldSelf.size || self.size == 1",message="size can't be changed while autoscaling.size.mode is Act, which chooses it: omit size, and remove the HorizontalPodAutoscaler, or set the mode to Observe"
// +kubebuilder:validation:XValidation:rule="!has(self.autoscaling) || !has(self.autoscaling.size) || self.autoscaling.size.mode != 'Act' || has(self.slots) && has(self.slots.clientHash) && (!has(self.slots.handoff) || self.slots.handoff.mode == 'Auto')",message="autoscaling.size with the mode Act needs slots.clientHash, and slots.handoff.mode Auto: otherwise each step would lose the keys that move. Set both, or set the mode to Observe"
// +kubebuilder:validation:XValidation:rule="!has(self.autoscaling) || !has(self.autoscaling.memory) || !has(self.autoscaling.size) || self.autoscaling.memory.mode != 'Act' || self.autoscaling.size.mode != 'Act'",message="autoscaling.memory and autoscaling.size must not both have the mode Act, because both would react to the same evictions, and undo each other's steps: set the mode of one to Observe"
type MemcachedSpec struct {
	// size is the number of memcached Pods, 0 to 1000. A change replaces no Pod. Defaults to 1. If a
	// HorizontalPodAutoscaler sets size through the scale subresource, or if autoscaling.size chooses the number of Pods,
	// omit size from Git.
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

	// imagePullPolicy is when the kubelet pulls the images of memcached and of the agent: Always, IfNotPresent or Never.
	// Defaults to Always for an image with the tag latest or with neither tag nor digest, and to IfNotPresent for any
	// other, as in Kubernetes. A value that differs from that of the Pods replaces them.
	// +optional
	ImagePullPolicy ImagePullPolicy `json:"imagePullPolicy,omitempty"`

	// imagePullSecrets are Secrets in the same namespace to pull the images with, at most 16. Defaults to none.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	ImagePullSecrets []LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// memory is the memory for items of one Pod (memcached's -m), 16Mi to 4Ti, rounded down to whole mebibytes. Defaults
	// to 64Mi, which is memcached's own default. The container gets more memory than this: see resources.
	// +optional
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('16Mi')) >= 0",message="memory must be a quantity of at least 16Mi, such as 64Mi; a number without a unit counts bytes"
	// +kubebuilder:validation:XValidation:rule="!isQuantity(string(self)) || quantity(string(self)).compareTo(quantity('4Ti')) <= 0",message="memory must be at most 4Ti per Pod: raise size to spread the cache over more Pods"
	Memory *resource.Quantity `json:"memory,omitempty"`

	// maxItemSize is the size of the largest item (memcached's -I), 512Ki to 1Gi, a multiple of 512Ki, and at most half of
	// memory. memcached keeps large items in chunks of 512Ki, and does not start if maxItemSize is not a multiple of
	// 512Ki. Defaults to 1Mi.
	// +optional
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('512Ki')) >= 0",message="maxItemSize must be a quantity of at least 512Ki, memcached's chunk of a large item, such as 2Mi; a number without a unit counts bytes"
	// +kubebuilder:validation:XValidation:rule="!isQuantity(string(self)) || quantity(string(self)).compareTo(quantity('1Gi')) <= 0",message="maxItemSize must be at most 1Gi, which is memcached's limit: split larger values"
	MaxItemSize *resource.Quantity `json:"maxItemSize,omitempty"`

	// maxConnections is the maximum number of client connections of one Pod, 16 to 200000. memcached answers further
	// connections with an error, and closes them. The operator sets memcached's -c to a higher value, because memcached
	// counts its own file descriptors, too. Defaults to 1024.
	// +optional
	// +kubebuilder:validation:Minimum=16
	// +kubebuilder:validation:Maximum=200000
	MaxConnections *int32 `json:"maxConnections,omitempty"`

	// threads is the number of worker threads of one Pod (memcached's -t), 1 to 64. More threads than the Node has cores
	// do not help. Defaults to the number of CPUs that resources request, rounded up and at least 4, but to at most the
	// CPU limit, rounded up.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	Threads *int32 `json:"threads,omitempty"`

	// extraArgs are additional arguments of memcached, at most 64 of at most 512 characters each. Arguments that the
	// operator sets itself (port, memory, threads, TLS and so on) are refused. $(NAME) is refused, too, because the
	// kubelet would replace it. Defaults to none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	ExtraArgs []string `json:"extraArgs,omitempty"`

	// resources are the resource requirements of the memcached container. Defaults to a memory limit that is large enough
	// for items, connections and threads when all of them are busy, a memory request for an ordinary load (see profile),
	// and a CPU request of 50m without a limit. A smaller memory limit is refused, with a message that states the required
	// limit.
	// +optional
	Resources *MemcachedResources `json:"resources,omitempty"`

	// agent configures the container next to memcached that serves metrics and reloads changed Secrets.
	// +optional
	Agent *Agent `json:"agent,omitempty"`

	// placement is where Pods may run. The operator merges affinity with the node affinity for architectures; affinity
	// never replaces the requirement for the architectures.
	// +optional
	Placement *Placement `json:"placement,omitempty"`

	// rollout is how Pods are replaced.
	// +optional
	Rollout *Rollout `json:"rollout,omitempty"`

	// slots gives each Pod a place with a name that stays when the Pod is replaced; {} means slots with DNS names and
	// handoff. Adding or removing slots would replace the Pods, so such a change is pending until the next rollout.
	// Defaults to none: clients know the Pods by their addresses.
	// +optional
	Slots *Slots `json:"slots,omitempty"`

	// bootstrap fills the cache before clients use it: with the keys of other memcached servers, such as the servers of a
	// Helm chart, or with the keys of a snapshot. If the keys come from servers, bootstrap needs slots.clientHash: all
	// keys that the cache had are removed, and a second Deployment NAME-bootstrap copies the keys of the servers; once all
	// clients use the cache, remove bootstrap, and only then the other servers. If the keys come from a snapshot,
	// bootstrap needs slots, and may stay in the spec. A change replaces no Pod. Defaults to none: the cache starts empty.
	// +optional
	Bootstrap *Bootstrap `json:"bootstrap,omitempty"`

	// discovery makes the operator create a Service NAME-discovery, from which clients with auto discovery (config get
	// cluster, the protocol of Amazon ElastiCache) get the list of memcached servers; {} is enough. A change replaces the
	// Pods. Defaults to none: clients use the endpoint of the status.
	// +optional
	Discovery *Discovery `json:"discovery,omitempty"`

	// binding makes the operator create a Secret with the data that a client needs to connect: host, port, user, password,
	// CA. The operator needs further rights for this. A change replaces no Pod. Defaults to none.
	// +optional
	Binding *Binding `json:"binding,omitempty"`

	// autoscaling makes the operator find out, from the use of the cache, how much memory or how many Pods the cache
	// needs. With the mode Act, the operator also sets the memory or the number of Pods. A change replaces no Pod.
	// Defaults to none.
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

	// terminationDelaySeconds is how long a Pod continues to answer after it was instructed to stop, in seconds, 0 to 600.
	// In this time, the address of the Pod disappears from the DNS answers that clients cache. The delay applies for
	// whatever reason a Pod ends: a rollout, a smaller size, an eviction. With slots, the delay begins when another Pod
	// has the slot. After the delay, memcached has 15 seconds to stop. Defaults to 30. A change replaces the Pods.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=600
	TerminationDelaySeconds *int32 `json:"terminationDelaySeconds,omitempty"`

	// commonMetadata is added to the objects that the operator creates: Services, Deployment, NetworkPolicy,
	// PodDisruptionBudget, EndpointSlices and the Secret of a binding. It is not added to Pods: for these, see
	// podTemplate. A change replaces no Pod.
	// +optional
	CommonMetadata *Metadata `json:"commonMetadata,omitempty"`

	// podTemplate has further settings of the Pods, besides those of memcached, of its agent and of the placement.
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

	// suspend stops the operator from writing anything except the status. A rollout in progress is paused, and resumes
	// when suspend is false. A change replaces no Pod. Defaults to false.
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
	// limits are the maximum amounts of resources that the container may use, for at most 12 resources. Defaults to
	// derived values: see the parent field.
	// +optional
	// +kubebuilder:validation:MaxProperties=12
	// +kubebuilder:validation:XValidation:rule="self.all(name, isQuantity(string(self[name])))",message="limits must be quantities, such as 500m of cpu or 256Mi of memory"
	Limits corev1.ResourceList `json:"limits,omitempty"`

	// requests are the amounts of resources that are reserved for the container, for at most 12 resources. Defaults to
	// derived values: see the parent field.
	// +optional
	// +kubebuilder:validation:MaxProperties=12
	// +kubebuilder:validation:XValidation:rule="self.all(name, isQuantity(string(self[name])))",message="requests must be quantities, such as 500m of cpu or 256Mi of memory"
	Requests corev1.ResourceList `json:"requests,omitempty"`
}

// ResourcesProfile is how much memory is reserved for a container.
// +kubebuilder:validation:Enum=Burstable;Guaranteed
type ResourcesProfile string

const (
	// ResourcesBurstable reserves the memory that an ordinary load needs. Whether the container gets more, up to its
	// limit, depends on what other Pods on the Node use.
	ResourcesBurstable ResourcesProfile = "Burstable"

	// ResourcesGuaranteed reserves all memory that the container may use.
	ResourcesGuaranteed ResourcesProfile = "Guaranteed"
)

// MemcachedResources are the resource requirements of the memcached container.
type MemcachedResources struct {
	Resources `json:",inline"`

	// profile determines the memory request, unless requests sets the memory. Burstable requests the memory that a full
	// cache needs under an ordinary load, in which all connections are open, and a tenth of them are busy. Guaranteed
	// requests as much as the limit, so that a Node that runs out of memory first ends Pods that use more than they
	// request. A change replaces the Pods. Defaults to Burstable.
	// +optional
	Profile ResourcesProfile `json:"profile,omitempty"`
}

// Agent configures the container next to memcached that serves metrics and reloads changed Secrets.
type Agent struct {
	// resources are the resource requirements of the agent's container. Defaults to requests of 10m CPU and 32Mi memory,
	// and a memory limit of 64Mi, without a CPU limit. A memory request above 64Mi also raises the limit, and a CPU limit
	// below 10m also lowers the request. A memory limit below 32Mi is refused. If the Pods have no agent, the field has no
	// effect.
	// +optional
	Resources *Resources `json:"resources,omitempty"`
}
