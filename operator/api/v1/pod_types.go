package v1

// PodTemplate has further settings of the Pods, as in PodTemplateSpec, besides those of memcached, of its agent and of
// the placement.
type PodTemplate struct {
	// metadata is added to the Pods.
	// +optional
	Metadata *Metadata `json:"metadata,omitempty"`

	// serviceAccountName is the ServiceAccount of the Pods: a DNS-1123 subdomain of 1 to 253 characters. memcached and the
	// agent need no rights, but some clusters tie image policies, Pod security or workload identity to a ServiceAccount.
	// Defaults to default, the ServiceAccount that each namespace has.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// automountServiceAccountToken mounts the token of the ServiceAccount into the containers, as in PodSpec. Neither
	// memcached nor the agent reads the token, but an injected container may read it. Defaults to false.
	// +optional
	AutomountServiceAccountToken bool `json:"automountServiceAccountToken,omitempty"`

	// dnsConfig is added to the DNS configuration that the kubelet gives to the Pods, as in PodSpec.
	// +optional
	DNSConfig *DNSConfig `json:"dnsConfig,omitempty"`
}

// DNSConfig is added to the DNS configuration of the Pods, as in PodDNSConfig.
type DNSConfig struct {
	// nameservers are IP addresses of further DNS servers, at most 2: a resolver uses at most 3, and the first one is the
	// DNS server of the cluster. Defaults to none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2
	// +kubebuilder:validation:items:MinLength=2
	// +kubebuilder:validation:items:MaxLength=45
	Nameservers []string `json:"nameservers,omitempty"`

	// searches are further domains in which names are looked up, at most 16. Defaults to none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=127
	Searches []string `json:"searches,omitempty"`

	// options are further options of the resolver, such as ndots, at most 32. Defaults to none.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Options []DNSOption `json:"options,omitempty"`
}

// DNSOption is an option of the resolver (resolv.conf(5)).
type DNSOption struct {
	// name is the name of the option: lower-case letters, digits and hyphens.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9-]+$`
	Name string `json:"name"`

	// value is the value of the option: letters, digits, dots and hyphens. Defaults to none: the option has no value.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9.-]+$`
	Value string `json:"value,omitempty"`
}
