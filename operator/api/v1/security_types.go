package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClientAuth is whether memcached requires a certificate of a client.
//
// +kubebuilder:validation:Enum=None;Request;Require
type ClientAuth string

const (
	// ClientAuthNone requests no certificate.
	ClientAuthNone ClientAuth = "None"

	// ClientAuthRequest accepts clients without a certificate, and refuses clients with a certificate of a CA that is not
	// in the Secret's ca.crt.
	ClientAuthRequest ClientAuth = "Request"

	// ClientAuthRequire refuses clients without a certificate that a CA in the Secret's ca.crt signed.
	ClientAuthRequire ClientAuth = "Require"
)

// Plaintext is who may connect to memcached without TLS, on port 11211.
//
// +kubebuilder:validation:Enum=Loopback;Enabled
type Plaintext string

const (
	// PlaintextLoopback allows only the Pod itself, and users who may forward its ports.
	PlaintextLoopback Plaintext = "Loopback"

	// PlaintextEnabled allows all clients. Use it while some clients do not use TLS yet.
	PlaintextEnabled Plaintext = "Enabled"
)

// TLS encrypts the connections of clients, on port 11212.
//
// +kubebuilder:validation:XValidation:rule="!has(self.cipherSuites) || !has(self.minVersion) || self.minVersion != 'VersionTLS13'",message="cipherSuites apply to TLS 1.2 only, and have no effect with minVersion VersionTLS13: remove one of the two"
// +kubebuilder:validation:XValidation:rule="has(self.secretName) || has(self.issuerRef)",message="tls needs a certificate: name a Secret by secretName, or an issuer of cert-manager by issuerRef"
type TLS struct {
	// secretName is a Secret in the same namespace with the certificate of the Pods: tls.crt (with its chain), tls.key
	// and, for a clientAuth other than None, the CAs of the clients in ca.crt, all in PEM. A changed Secret takes effect
	// within about 100 seconds, without a restart. Defaults to NAME-tls if issuerRef is set, and is required otherwise.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	SecretName string `json:"secretName,omitempty"`

	// issuerRef is the issuer of the certificate. The operator creates a Certificate with all names of the cache, and
	// cert-manager writes the Secret. Defaults to none: another client creates the Secret.
	// +optional
	IssuerRef *IssuerRef `json:"issuerRef,omitempty"`

	// clientAuth is whether memcached requires a certificate of a client: None; Request, which accepts clients without a
	// certificate; or Require, which refuses clients without a certificate that a CA in the Secret's ca.crt signed.
	// Defaults to None.
	// +optional
	ClientAuth ClientAuth `json:"clientAuth,omitempty"`

	// plaintext is who may connect to memcached without TLS, on port 11211: Loopback allows only the Pod itself; Enabled
	// allows all clients, while some of them do not use TLS yet. Defaults to Loopback.
	// +optional
	Plaintext Plaintext `json:"plaintext,omitempty"`

	// minVersion is the lowest version of TLS that memcached accepts: VersionTLS12 or VersionTLS13. Defaults to
	// VersionTLS12, which is memcached's own default.
	// +optional
	MinVersion TLSVersion `json:"minVersion,omitempty"`

	// cipherSuites are the cipher suites that memcached accepts with TLS 1.2, by OpenSSL's names, at most 16. A suite with
	// ECDSA works only if the certificate has an ECDSA key, and a suite with RSA only if it has an RSA key. The suites of
	// TLS 1.3 are always accepted, because memcached has no option for them. Defaults to OpenSSL's choice.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	CipherSuites []CipherSuite `json:"cipherSuites,omitempty"`
}

// IssuerRef names an issuer of cert-manager.
type IssuerRef struct {
	// name is the name of the issuer. A change replaces no Pod.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// kind is Issuer (in the same namespace), ClusterIssuer, or a kind of another API group. A change replaces no Pod.
	// Defaults to Issuer.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind,omitempty"`

	// group is the API group of an issuer that is not cert-manager's own. A change replaces no Pod. Defaults to
	// cert-manager.io.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Group string `json:"group,omitempty"`
}

// TLSVersion is a version of TLS.
//
// +kubebuilder:validation:Enum=VersionTLS12;VersionTLS13
type TLSVersion string

const (
	// VersionTLS12 is TLS 1.2.
	VersionTLS12 TLSVersion = "VersionTLS12"

	// VersionTLS13 is TLS 1.3.
	VersionTLS13 TLSVersion = "VersionTLS13"
)

// CipherSuite is a cipher suite of TLS 1.2 with forward secrecy, by OpenSSL's name. Suites with DHE are not supported,
// because memcached has no parameters for them.
//
// +kubebuilder:validation:Enum=ECDHE-ECDSA-AES128-GCM-SHA256;ECDHE-RSA-AES128-GCM-SHA256;ECDHE-ECDSA-AES256-GCM-SHA384;ECDHE-RSA-AES256-GCM-SHA384;ECDHE-ECDSA-CHACHA20-POLY1305;ECDHE-RSA-CHACHA20-POLY1305;ECDHE-ECDSA-AES128-SHA256;ECDHE-RSA-AES128-SHA256;ECDHE-ECDSA-AES256-SHA384;ECDHE-RSA-AES256-SHA384;ECDHE-ECDSA-AES128-SHA;ECDHE-RSA-AES128-SHA;ECDHE-ECDSA-AES256-SHA;ECDHE-RSA-AES256-SHA
type CipherSuite string

// RequestsCertificates returns whether memcached requests certificates of clients. If it does, the Secret needs a
// ca.crt.
func (t *TLS) RequestsCertificates() bool {
	return t != nil && t.ClientAuth != "" && t.ClientAuth != ClientAuthNone
}

// TLSSecretName returns the name of the Secret with the certificate; empty without TLS.
func (m *Memcached) TLSSecretName() string {
	switch tls := m.Spec.TLS; {
	case tls == nil:
		return ""
	case tls.SecretName == "" && tls.IssuerRef != nil:
		return m.Name + "-tls"
	default:
		return tls.SecretName
	}
}

// Auth is the authentication of the ASCII protocol of memcached: a client sends a user and a password when it connects.
type Auth struct {
	// secretName is a Secret in the same namespace that has, for one user, the keys username and password or, for several
	// users, the key users with one line user:password for each user, at most 8 lines of at most 254 bytes, which is the
	// limit of memcached. A changed Secret takes effect within about 100 seconds, without a restart. Open connections stay
	// authenticated.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	SecretName string `json:"secretName"`
}

// MetricsMode is whether the Pods serve metrics.
//
// +kubebuilder:validation:Enum=Enabled;Disabled
type MetricsMode string

const (
	// MetricsEnabled makes the agent next to memcached serve metrics.
	MetricsEnabled MetricsMode = "Enabled"

	// MetricsDisabled serves no metrics. If the cache has no other need for the agent (TLS, auth, slots, discovery), its
	// Pods have no agent, either.
	MetricsDisabled MetricsMode = "Disabled"
)

// SlabMetrics is how detailed the metrics of slab classes are.
//
// +kubebuilder:validation:Enum=Totals;PerClass
type SlabMetrics string

const (
	// SlabMetricsTotals serves each metric of slab classes as one series: the sum over all slab classes of a Pod.
	SlabMetricsTotals SlabMetrics = "Totals"

	// SlabMetricsPerClass serves each metric of slab classes as one series for each slab class of a Pod.
	SlabMetricsPerClass SlabMetrics = "PerClass"
)

// Metrics configures the metrics of the Pods for Prometheus.
type Metrics struct {
	// mode Enabled serves the metrics of each Pod on its port 9150, over plain HTTP. The metrics contain no key, no value
	// and no password. Disabled serves no metrics. Defaults to Enabled.
	// +optional
	// +kubebuilder:default=Enabled
	Mode MetricsMode `json:"mode,omitempty"`

	// slabMetrics is how detailed the metrics of slab classes are: with Totals, they are sums over all slab classes, and a
	// Pod has about 100 series in all; with PerClass, they have a label slab, and a Pod has up to 2,400 series. Defaults
	// to Totals.
	// +optional
	SlabMetrics SlabMetrics `json:"slabMetrics,omitempty"`
}

// TLSStatus is the state of the certificate in the Secret. The metrics of a Pod report which certificate it serves.
type TLSStatus struct {
	// notAfter is when the certificate expires.
	// +optional
	NotAfter *metav1.Time `json:"notAfter,omitempty"`
}
