package v1

// Discovery makes a Service that announces the memcached servers to clients. It has no fields.
type Discovery struct{}

// Service configures the headless Service.
//
// +kubebuilder:validation:XValidation:rule="!has(self.ipFamilies) || size(self.ipFamilies) < 2 || (has(self.ipFamilyPolicy) && self.ipFamilyPolicy != 'SingleStack')",message="two ipFamilies need ipFamilyPolicy PreferDualStack or RequireDualStack: set it, or name one family"
type Service struct {
	// metadata is added to the Service, and to the Services of slots. It takes precedence over spec.commonMetadata.
	// +optional
	Metadata *Metadata `json:"metadata,omitempty"`

	// ipFamilyPolicy is how many IP families the Service has: with SingleStack, one; with PreferDualStack, both if the
	// cluster has both; with RequireDualStack, both, and if the cluster has only one, the API server refuses the Service.
	// Defaults to the API server's choice, SingleStack.
	// +optional
	IPFamilyPolicy IPFamilyPolicy `json:"ipFamilyPolicy,omitempty"`

	// ipFamilies are the IP families, IPv4 and IPv6, each at most once, the primary one first. The primary family of an
	// existing Service can't be changed. Defaults to the families of the cluster, as ipFamilyPolicy allows.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2
	// +kubebuilder:validation:XValidation:rule="size(self) < 2 || self[0] != self[1]",message="ipFamilies must not name a family twice: leave one out, or name IPv4 and IPv6"
	IPFamilies []IPFamily `json:"ipFamilies,omitempty"`
}

// IPFamilyPolicy is how many IP families a Service has.
//
// +kubebuilder:validation:Enum=SingleStack;PreferDualStack;RequireDualStack
type IPFamilyPolicy string

// IPFamily is an IP family.
//
// +kubebuilder:validation:Enum=IPv4;IPv6
type IPFamily string
