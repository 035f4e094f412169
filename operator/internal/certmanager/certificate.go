// Package certmanager has the part of cert-manager's API that the operator uses: it requests certificates, and reads
// whether they are issued. The module of cert-manager itself would bring all of its issuers' libraries.
package certmanager

// Certificate, and its apply configuration.

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

// Group is the API group of cert-manager.
const Group = "cert-manager.io"

// GroupVersion is the version of the API, and Kind the kind of a certificate.
var (
	GroupVersion = schema.GroupVersion{Group: Group, Version: "v1"}
	Kind         = GroupVersion.WithKind("Certificate")
)

// AnnotationCertificate is on each Secret that cert-manager writes: the name of its Certificate.
const AnnotationCertificate = Group + "/certificate-name"

// Certificate requests a certificate, which cert-manager writes into a Secret.
type Certificate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   CertificateSpec   `json:"spec"`
	Status CertificateStatus `json:"status,omitzero"`
}

// CertificateSpec has the fields that the operator sets.
type CertificateSpec struct {
	SecretName string     `json:"secretName"`
	DNSNames   []string   `json:"dnsNames,omitempty"`
	Usages     []string   `json:"usages,omitempty"`
	PrivateKey PrivateKey `json:"privateKey,omitzero"`
	IssuerRef  IssuerRef  `json:"issuerRef"`
}

// PrivateKey says how cert-manager makes the private key.
type PrivateKey struct {
	RotationPolicy string `json:"rotationPolicy,omitempty"`
}

// IssuerRef names an issuer.
type IssuerRef struct {
	Name  string `json:"name"`
	Kind  string `json:"kind,omitempty"`
	Group string `json:"group,omitempty"`
}

// CertificateStatus has the fields that the operator reads.
type CertificateStatus struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// DeepCopyObject returns a copy that shares no memory.
func (c *Certificate) DeepCopyObject() runtime.Object {
	copied := *c
	c.DeepCopyInto(&copied.ObjectMeta)
	copied.Spec.DNSNames, copied.Spec.Usages = slices.Clone(c.Spec.DNSNames), slices.Clone(c.Spec.Usages)
	copied.Status.Conditions = slices.Clone(c.Status.Conditions)
	return &copied
}

// CertificateList is a list of Certificates.
type CertificateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []Certificate `json:"items"`
}

// DeepCopyObject returns a copy that shares no memory.
func (l *CertificateList) DeepCopyObject() runtime.Object {
	copied := *l
	l.DeepCopyInto(&copied.ListMeta)
	copied.Items = slices.Clone(l.Items)
	for i := range l.Items {
		copied.Items[i] = *l.Items[i].DeepCopyObject().(*Certificate)
	}
	return &copied
}

// AddToScheme makes the types known to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Certificate{}, &CertificateList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// CertificateApplyConfiguration is a Certificate to apply.
type CertificateApplyConfiguration struct {
	metav1ac.TypeMetaApplyConfiguration    `json:",inline"`
	*metav1ac.ObjectMetaApplyConfiguration `json:"metadata,omitempty"`

	Spec *CertificateSpec `json:"spec,omitempty"`
}

// NewCertificate returns a Certificate to apply.
func NewCertificate(name, namespace string, spec CertificateSpec) *CertificateApplyConfiguration {
	return &CertificateApplyConfiguration{
		TypeMetaApplyConfiguration: *metav1ac.TypeMeta().
			WithAPIVersion(GroupVersion.String()).WithKind(Kind.Kind),
		ObjectMetaApplyConfiguration: (&metav1ac.ObjectMetaApplyConfiguration{}).WithName(name).WithNamespace(namespace),
		Spec:                         &spec,
	}
}

// IsApplyConfiguration implements runtime.ApplyConfiguration.
func (CertificateApplyConfiguration) IsApplyConfiguration() {}

// GetKind returns the kind, as the client needs it.
func (c *CertificateApplyConfiguration) GetKind() *string { return c.Kind }

// GetAPIVersion returns the API version, as the client needs it.
func (c *CertificateApplyConfiguration) GetAPIVersion() *string { return c.APIVersion }
