package v1

// ObjectMetadata is added to the objects that the operator creates, but not to Pods.
type ObjectMetadata struct {
	// labels are added to the objects, at most 64. They override those of the operator. The labels app and
	// memcached_cr, and names that begin with cache.example.com/, are refused. Defaults to none.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="!('app' in self) && !('memcached_cr' in self)",message="labels must not contain app or memcached_cr: the operator selects its objects by these two; choose another name"
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('cache.example.com/'))",message="labels must not begin with cache.example.com/: these names are reserved for the operator; choose another name"
	Labels map[string]string `json:"labels,omitempty"`

	// annotations are added to the objects, at most 64. Names that begin with cache.example.com/ and
	// deployment.kubernetes.io/ are refused. Defaults to none.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('cache.example.com/'))",message="annotations must not begin with cache.example.com/: these names are reserved for the operator; choose another name"
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('deployment.kubernetes.io/'))",message="annotations must not begin with deployment.kubernetes.io/: the Deployment controller sets these; choose another name"
	Annotations map[string]string `json:"annotations,omitempty"`
}

// PodMetadata is added to the Pods.
type PodMetadata struct {
	// labels are added to the Pods, at most 64. The labels app and memcached_cr, and names that begin with
	// cache.example.com/, are refused. Defaults to none.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="!('app' in self) && !('memcached_cr' in self)",message="labels must not contain app or memcached_cr: the Service and the Deployment select the Pods by these two; choose another name"
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('cache.example.com/'))",message="labels must not begin with cache.example.com/: these names are reserved for the operator; choose another name"
	Labels map[string]string `json:"labels,omitempty"`

	// annotations are added to the Pods, at most 64. Names that begin with cache.example.com/ are refused. Defaults to
	// none.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('cache.example.com/'))",message="annotations must not begin with cache.example.com/: these names are reserved for the operator; choose another name"
	Annotations map[string]string `json:"annotations,omitempty"`
}
