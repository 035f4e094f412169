package v1

// ObjectMetadata is added to the objects that the operator makes, but not to Pods.
type ObjectMetadata struct {
	// labels of the objects, at most 64. They win over those of the operator. The two by which the operator finds its
	// objects, and names below cache.example.com/, can't be set.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="!('app' in self) && !('memcached_cr' in self)",message="labels must not contain app or memcached_cr: by these two the operator finds its objects; choose another name"
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('cache.example.com/'))",message="labels must not begin with cache.example.com/: these names are the operator's; choose another name"
	Labels map[string]string `json:"labels,omitempty"`

	// annotations of the objects, at most 64. Names below cache.example.com/ and deployment.kubernetes.io/ can't be set.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('cache.example.com/'))",message="annotations must not begin with cache.example.com/: these names are the operator's; choose another name"
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('deployment.kubernetes.io/'))",message="annotations must not begin with deployment.kubernetes.io/: the Deployment controller sets these; choose another name"
	Annotations map[string]string `json:"annotations,omitempty"`
}

// PodMetadata is added to the Pods.
type PodMetadata struct {
	// labels of the Pods, at most 64. The two by which Pods are selected, and names below cache.example.com/, can't be set.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="!('app' in self) && !('memcached_cr' in self)",message="labels must not contain app or memcached_cr: by these two the Pods of a cache are selected; choose another name"
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('cache.example.com/'))",message="labels must not begin with cache.example.com/: these names are the operator's; choose another name"
	Labels map[string]string `json:"labels,omitempty"`

	// annotations of the Pods, at most 64. Names below cache.example.com/ can't be set.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('cache.example.com/'))",message="annotations must not begin with cache.example.com/: these names are the operator's; choose another name"
	Annotations map[string]string `json:"annotations,omitempty"`
}
