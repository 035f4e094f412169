package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// MemcachedSpec is the cache as it should be.
type MemcachedSpec struct {
	// size is the number of memcached nodes, 0 to 1000. Defaults to 1.
	// A HorizontalPodAutoscaler sets it through the scale subresource; Git then leaves it out.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Size *int32 `json:"size,omitempty"`

	// image is the memcached image: a reference with or without tag or digest, 1 to 512 characters.
	// Defaults to the image that this version of the operator was released with (the operator's environment
	// variable RELATED_IMAGE_MEMCACHED).
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// imagePullPolicy says when the kubelet pulls the images of a Pod, memcached's and the agent's: Always, IfNotPresent
	// or Never. Defaults to Always for an image with the tag latest or with neither tag nor digest, and to IfNotPresent
	// for any other: Kubernetes' own rule. Setting it to another value than the Pods have replaces them.
	// +optional
	ImagePullPolicy ImagePullPolicy `json:"imagePullPolicy,omitempty"`

	// imagePullSecrets name Secrets of this namespace by which the image is pulled, at most 16. Defaults to none.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	ImagePullSecrets []ImagePullSecret `json:"imagePullSecrets,omitempty"`

	// memory is what one node may use for items (memcached's -m), 16Mi to 4Ti, rounded down to whole
	// mebibytes. Defaults to 64Mi, which is memcached's own default. The container gets more than that: see
	// resources.
	// +optional
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('16Mi')) >= 0",message="memory must be a quantity of at least 16Mi, such as 64Mi; a number without a unit counts bytes"
	// +kubebuilder:validation:XValidation:rule="!isQuantity(string(self)) || quantity(string(self)).compareTo(quantity('4Ti')) <= 0",message="memory must be at most 4Ti a node: raise size to spread the cache over more nodes"
	Memory *resource.Quantity `json:"memory,omitempty"`

	// maxItemSize is the size of the largest item (memcached's -I), 512Ki to 1Gi, a multiple of 512Ki, and at most half
	// of memory. memcached keeps large items in chunks of 512Ki and does not start otherwise (memcached.c, main).
	// Defaults to 1Mi.
	// +optional
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('512Ki')) >= 0",message="maxItemSize must be a quantity of at least 512Ki, memcached's chunk of a large item, such as 2Mi; a number without a unit counts bytes"
	// +kubebuilder:validation:XValidation:rule="!isQuantity(string(self)) || quantity(string(self)).compareTo(quantity('1Gi')) <= 0",message="maxItemSize must be at most 1Gi, memcached's own bound: split larger values"
	MaxItemSize *resource.Quantity `json:"maxItemSize,omitempty"`

	// maxConnections is how many clients may be connected to one node at a time, 16 to 200000. Further ones are told
	// so and are disconnected. memcached's -c, which also counts its own descriptors, is set higher. Defaults to 1024.
	// +optional
	// +kubebuilder:validation:Minimum=16
	// +kubebuilder:validation:Maximum=200000
	MaxConnections *int32 `json:"maxConnections,omitempty"`

	// threads is the number of worker threads of one node (memcached's -t), 1 to 64. More than the node has cores
	// helps nobody. Defaults to 4.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	Threads *int32 `json:"threads,omitempty"`

	// extraArgs are further arguments of memcached, at most 64 of at most 512 characters each. Those that the
	// operator manages (port, memory, threads, TLS and so on) are refused by name. Defaults to none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	ExtraArgs []string `json:"extraArgs,omitempty"`

	// resources are those of the memcached container. What they leave out is derived: a memory limit that holds
	// items, connections and threads, the same as memory request, and a CPU request of 50m without a limit.
	// A memory limit that can't hold the sum is refused, with the number that it needs.
	// +optional
	Resources *Resources `json:"resources,omitempty"`

	// agent is the container beside memcached that serves metrics and loads changed Secrets.
	// +optional
	Agent *Agent `json:"agent,omitempty"`

	// architectures are the kubernetes.io/arch values that Pods may run on: amd64, arm64, ppc64le, s390x.
	// Defaults to those that the operator was installed with (its environment variable OPERAND_ARCHITECTURES).
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Architectures []Architecture `json:"architectures,omitempty"`

	// preferredArchitectures are architectures that are preferred where there is a choice, at most 8. Defaults to none.
	// +optional
	// +listType=map
	// +listMapKey=architecture
	// +kubebuilder:validation:MaxItems=8
	PreferredArchitectures []PreferredArchitecture `json:"preferredArchitectures,omitempty"`

	// placement says where Pods may run, in a Pod's own terms. It is added to the rule of the architectures, and
	// never replaces it.
	// +optional
	Placement *Placement `json:"placement,omitempty"`

	// rollout says how nodes are replaced.
	// +optional
	Rollout *Rollout `json:"rollout,omitempty"`

	// updatePolicy says when what a new operator brings, such as another default image, reaches nodes that run:
	// OnSpecChange, with the next change of the spec that replaces them anyway, or Automatic, at once. Defaults to
	// OnSpecChange.
	// +optional
	UpdatePolicy UpdatePolicy `json:"updatePolicy,omitempty"`

	// disruption says how many nodes may be away while machines are drained.
	// +optional
	Disruption *Disruption `json:"disruption,omitempty"`

	// metadata is added to the objects that the operator makes: Service, Deployment, NetworkPolicy and
	// PodDisruptionBudget. Pods do not get it: see podMetadata. A change replaces no Pod.
	// +optional
	Metadata *ObjectMetadata `json:"metadata,omitempty"`

	// podMetadata is added to the Pods.
	// +optional
	PodMetadata *PodMetadata `json:"podMetadata,omitempty"`

	// service describes the Service.
	// +optional
	Service *Service `json:"service,omitempty"`

	// tls encrypts what clients and nodes say to each other, on port 11212. Defaults to no TLS.
	// +optional
	TLS *TLS `json:"tls,omitempty"`

	// auth asks clients for a user and a password. Defaults to none.
	// +optional
	Auth *Auth `json:"auth,omitempty"`

	// metrics are those of the nodes, for Prometheus.
	// +optional
	Metrics *Metrics `json:"metrics,omitempty"`

	// networkPolicy says who may reach the nodes.
	// +optional
	NetworkPolicy *NetworkPolicy `json:"networkPolicy,omitempty"`

	// suspend stops the operator from writing anything but the status. A rollout that is under way stops where it is,
	// and goes on afterwards. Defaults to false.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// ImagePullPolicy says when the kubelet pulls an image.
//
// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
type ImagePullPolicy string

// ImagePullSecret names a Secret of type kubernetes.io/dockerconfigjson.
type ImagePullSecret struct {
	// name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
}

// Resources are those of a container, by name, such as cpu and memory.
type Resources struct {
	// limits are the most that the container may use, at most 12. Each that is left out has a default, or none: see the
	// field that holds them.
	// +optional
	// +kubebuilder:validation:MaxProperties=12
	// +kubebuilder:validation:XValidation:rule="self.all(name, isQuantity(string(self[name])))",message="limits must be quantities, such as 500m of cpu or 256Mi of memory"
	Limits corev1.ResourceList `json:"limits,omitempty"`

	// requests are what the container is sure of, at most 12. Each that is left out has a default, or none: see the field
	// that holds them.
	// +optional
	// +kubebuilder:validation:MaxProperties=12
	// +kubebuilder:validation:XValidation:rule="self.all(name, isQuantity(string(self[name])))",message="requests must be quantities, such as 500m of cpu or 256Mi of memory"
	Requests corev1.ResourceList `json:"requests,omitempty"`
}

// Agent is the container beside memcached that serves metrics and loads changed Secrets.
type Agent struct {
	// resources are those of the agent's container. Defaults to requests of 10m CPU and 32Mi memory, and a memory limit of
	// 64Mi; there is no CPU limit. A larger memory request raises the limit, a smaller CPU limit lowers the request.
	// A memory limit below 32Mi is refused. Without an agent (no TLS, no auth, metrics Disabled) it has no effect.
	// +optional
	Resources *Resources `json:"resources,omitempty"`
}

// Architecture is a processor architecture by its name in Go and in the label kubernetes.io/arch.
//
// +kubebuilder:validation:Enum=amd64;arm64;ppc64le;s390x
type Architecture string

// PreferredArchitecture is an architecture, and how much it is preferred.
type PreferredArchitecture struct {
	// architecture that is preferred.
	// +required
	Architecture Architecture `json:"architecture"`

	// weight of the preference beside others, 1 to 100.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Weight int32 `json:"weight"`
}
