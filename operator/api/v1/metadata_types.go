package v1

// Metadata is labels and annotations that are added to objects or Pods.
type Metadata struct {
	// labels are added to the objects or Pods, at most 64. They take precedence over the operator's labels. The labels app
	// and memcached_cr, and names that begin with cache.example.com/, are refused. Defaults to none.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="!('app' in self) && !('memcached_cr' in self)",message="labels must not contain app or memcached_cr: the operator, the Service and the Deployment select by these two; choose another name"
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('cache.example.com/'))",message="labels must not begin with cache.example.com/: these names are reserved for the operator; choose another name"
	Labels map[string]string `json:"labels,omitempty"`

	// annotations are added to the objects or Pods, at most 64. Names that begin with cache.example.com/ and
	// deployment.kubernetes.io/ are refused. Defaults to none.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('cache.example.com/'))",message="annotations must not begin with cache.example.com/: these names are reserved for the operator; choose another name"
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('deployment.kubernetes.io/'))",message="annotations must not begin with deployment.kubernetes.io/: the Deployment controller sets these; choose another name"
	Annotations map[string]string `json:"annotations,omitempty"`
}
