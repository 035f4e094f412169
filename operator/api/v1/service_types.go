package v1

// Service describes the headless Service. Its labels and annotations win over those of spec.metadata.
//
// +kubebuilder:validation:XValidation:rule="!has(self.ipFamilies) || size(self.ipFamilies) < 2 || (has(self.ipFamilyPolicy) && self.ipFamilyPolicy != 'SingleStack')",message="two ipFamilies need ipFamilyPolicy PreferDualStack or RequireDualStack: set it, or name one family"
type Service struct {
	// labels of the Service, at most 64. The two by which the operator finds it, and names below cache.example.com/, can't
	// be set.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="!('app' in self) && !('memcached_cr' in self)",message="labels must not contain app or memcached_cr: by these two the operator finds the Service; choose another name"
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('cache.example.com/'))",message="labels must not begin with cache.example.com/: these names are the operator's; choose another name"
	Labels map[string]string `json:"labels,omitempty"`

	// annotations of the Service, at most 64. Names below cache.example.com/ can't be set.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('cache.example.com/'))",message="annotations must not begin with cache.example.com/: these names are the operator's; choose another name"
	Annotations map[string]string `json:"annotations,omitempty"`

	// ipFamilyPolicy says of how many IP families the Service's name resolves to addresses: SingleStack, one;
	// PreferDualStack, both where the cluster has both; RequireDualStack, both, or the Service is refused. Defaults to the
	// API server's choice, SingleStack.
	// +optional
	IPFamilyPolicy IPFamilyPolicy `json:"ipFamilyPolicy,omitempty"`

	// ipFamilies are the IP families, IPv4 and IPv6, each at most once, the main one first. The main one of a Service that
	// exists can't be changed. Defaults to the cluster's.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2
	// +kubebuilder:validation:XValidation:rule="size(self) < 2 || self[0] != self[1]",message="ipFamilies must not name a family twice: leave one out, or name IPv4 and IPv6"
	IPFamilies []IPFamily `json:"ipFamilies,omitempty"`
}

// IPFamilyPolicy says of how many IP families a Service is.
//
// +kubebuilder:validation:Enum=SingleStack;PreferDualStack;RequireDualStack
type IPFamilyPolicy string

// IPFamily is an IP family.
//
// +kubebuilder:validation:Enum=IPv4;IPv6
type IPFamily string
