package v1

// BindingSecretType is the type of the Secret of a binding.
const BindingSecretType = "servicebinding.io/memcached"

// Binding makes the operator create a Secret with the data that a client needs to connect, as the Service Binding
// specification defines it.
type Binding struct {
	// secretName is the name of the Secret, in the namespace of the Memcached. The Secret must not exist yet, and must not
	// be that of spec.tls or spec.auth, because the operator does not change a Secret that it did not create.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	SecretName string `json:"secretName"`
}

// BindingStatus refers to the Secret of the binding. It makes a Memcached a Provisioned Service of the Service Binding
// specification.
type BindingStatus struct {
	// name is the name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}
