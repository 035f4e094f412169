package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MemcachedStatus is the observed state of a cache.
type MemcachedStatus struct {
	// conditions report whether the cache is ready and, if not, why, as in kstatus: Ready is always set; Reconciling and
	// Stalled are set only while they are True, and never both.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// nodes are the names of the memcached Pods that are not terminating, sorted.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=4096
	Nodes []string `json:"nodes,omitempty"`

	// replicas is the number of memcached Pods, for the scale subresource.
	// +optional
	Replicas int32 `json:"replicas"`

	// readyReplicas is the number of memcached Pods that are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// selector selects the memcached Pods, for the scale subresource.
	// +optional
	Selector string `json:"selector,omitempty"`

	// endpoint is the address for a sharding client: <name>.<namespace>.svc:<port>, with the port of TLS if TLS is
	// configured. The name resolves to the addresses of the ready Pods. When the port changes, the endpoint gets the new
	// port once the last Pod without that port is replaced.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// discoveryEndpoint is the address for a client with auto discovery: <name>-discovery.<namespace>.svc:<port>, with the
	// port of TLS if TLS is configured; empty without discovery.
	// +optional
	DiscoveryEndpoint string `json:"discoveryEndpoint,omitempty"`

	// certificate is the name of the Certificate of cert-manager that the operator created; empty without issuerRef.
	// +optional
	Certificate string `json:"certificate,omitempty"`

	// binding refers to the Secret with the data that a client needs to connect; empty if there is no such Secret.
	// +optional
	Binding *BindingStatus `json:"binding,omitempty"`

	// image is the memcached image of the Pods. During a rollout, some Pods still run the previous one.
	// +optional
	Image string `json:"image,omitempty"`

	// agentImage is the image of the agent in the Pods; empty if they have no agent.
	// +optional
	AgentImage string `json:"agentImage,omitempty"`

	// templateRevision is the revision of the operator's Pod template that the Pods were created from.
	// +optional
	TemplateRevision int32 `json:"templateRevision,omitempty"`

	// templateInputs is the operator's record of the defaults that the Pods were created from, the same as in the
	// annotation cache.example.com/template-inputs of the Deployment. From this record, the operator restores the
	// annotation if another client changes it.
	// +optional
	TemplateInputs string `json:"templateInputs,omitempty"`

	// progressingSince is when the cache began to work towards the current generation of the spec, or, at this generation,
	// stopped being Ready. rollout.progressDeadlineSeconds counts from this time, or from the time at which the last Pod
	// became ready. progressingSince is set to the current time again when a missing Secret is created. It is set only
	// together with the condition Reconciling.
	// +optional
	ProgressingSince *metav1.Time `json:"progressingSince,omitempty"`

	// bootstrapCutOverSince is the time from which on clients may use both the cache and the servers of spec.bootstrap;
	// empty before, and without a bootstrap. From this time on, no keys are copied.
	// +optional
	BootstrapCutOverSince *metav1.Time `json:"bootstrapCutOverSince,omitempty"`

	// restoredSnapshot is the name of the snapshot of spec.bootstrap whose items were added; empty before, and if
	// spec.bootstrap has no snapshot. The operator does not restore this snapshot again.
	// +optional
	RestoredSnapshot string `json:"restoredSnapshot,omitempty"`

	// restartRequired lists what was removed from a Secret, but is still accepted by Pods that started before, as the
	// condition RestartRequired reports. After a restart, the operator adds another entry for the removals that it finds
	// from then on.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	RestartRequired []RestartRequirement `json:"restartRequired,omitempty"`

	// tls is the state of the certificate in the Secret of spec.tls.
	// +optional
	TLS *TLSStatus `json:"tls,omitempty"`

	// autoscaling is what the operator has found out about the use of the cache; empty without spec.autoscaling.
	// +optional
	Autoscaling *AutoscalingStatus `json:"autoscaling,omitempty"`

	// slots are the slots of the cache, in their order; empty if the cache has no slots.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=1000
	Slots []SlotStatus `json:"slots,omitempty"`
}

// RestartRequirement is why Pods that started before a time have to be restarted.
type RestartRequirement struct {
	// reason is ClientCARemoved or UserRemoved.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason"`

	// since is when the operator found the last removal. Pods that started before this time have to be restarted.
	// +required
	Since metav1.Time `json:"since"`

	// secretName is the name of the Secret.
	// +required
	// +kubebuilder:validation:MaxLength=253
	SecretName string `json:"secretName"`

	// removed describes what was removed: client CAs with their names, and users without their names.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	Removed string `json:"removed"`
}
