package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClientAuth says what memcached asks of a client's certificate.
//
// +kubebuilder:validation:Enum=None;Request;Require
type ClientAuth string

const (
	// ClientAuthNone asks for no certificate.
	ClientAuthNone ClientAuth = "None"

	// ClientAuthRequest lets in clients without a certificate, and refuses those whose certificate is foreign.
	ClientAuthRequest ClientAuth = "Request"

	// ClientAuthRequire lets in nobody without a certificate of the Secret's ca.crt.
	ClientAuthRequire ClientAuth = "Require"
)

// Plaintext says who may speak to memcached without TLS, on port 11211.
//
// +kubebuilder:validation:Enum=Loopback;Enabled
type Plaintext string

const (
	// PlaintextLoopback lets in the Pod itself, and whoever may forward its ports.
	PlaintextLoopback Plaintext = "Loopback"

	// PlaintextEnabled lets in everybody: for clients that are still to be moved to TLS.
	PlaintextEnabled Plaintext = "Enabled"
)

// TLS is encryption between clients and nodes, on port 11212.
//
// +kubebuilder:validation:XValidation:rule="!has(self.cipherSuites) || !has(self.minVersion) || self.minVersion != 'VersionTLS13'",message="cipherSuites are those of TLS 1.2 and have no effect with minVersion VersionTLS13: remove one of the two"
type TLS struct {
	// secretName names a Secret of this namespace with the nodes' certificate: tls.crt (with its chain) and tls.key, and
	// for clientAuth other than None the CAs of the clients, ca.crt, all in PEM. cert-manager makes such Secrets. A
	// Secret that changes is live within about 100 seconds, and no node is restarted for it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	SecretName string `json:"secretName"`

	// clientAuth is what memcached asks of a client's certificate: None; Request, which lets in clients without one; or
	// Require, which lets in nobody without one of the Secret's ca.crt. Defaults to None.
	// +optional
	ClientAuth ClientAuth `json:"clientAuth,omitempty"`

	// plaintext says who may speak to memcached without TLS, on port 11211: Loopback, the Pod itself; or Enabled,
	// everybody, for clients that are still to be moved. Defaults to Loopback.
	// +optional
	Plaintext Plaintext `json:"plaintext,omitempty"`

	// minVersion is the lowest version of TLS that memcached accepts: VersionTLS12 or VersionTLS13. Defaults to
	// VersionTLS12, which is memcached's own default.
	// +optional
	MinVersion TLSVersion `json:"minVersion,omitempty"`

	// cipherSuites are the cipher suites that memcached accepts with TLS 1.2, by OpenSSL's names, at most 16. A suite
	// with ECDSA needs a certificate with such a key, one with RSA an RSA key. Those of TLS 1.3 are always all accepted:
	// memcached can't choose among them. Defaults to OpenSSL's choice.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	CipherSuites []CipherSuite `json:"cipherSuites,omitempty"`
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

// CipherSuite is a cipher suite of TLS 1.2 with forward secrecy, by OpenSSL's name. Those with DHE are not among them,
// as memcached has no parameters for them.
//
// +kubebuilder:validation:Enum=ECDHE-ECDSA-AES128-GCM-SHA256;ECDHE-RSA-AES128-GCM-SHA256;ECDHE-ECDSA-AES256-GCM-SHA384;ECDHE-RSA-AES256-GCM-SHA384;ECDHE-ECDSA-CHACHA20-POLY1305;ECDHE-RSA-CHACHA20-POLY1305;ECDHE-ECDSA-AES128-SHA256;ECDHE-RSA-AES128-SHA256;ECDHE-ECDSA-AES256-SHA384;ECDHE-RSA-AES256-SHA384;ECDHE-ECDSA-AES128-SHA;ECDHE-RSA-AES128-SHA;ECDHE-ECDSA-AES256-SHA;ECDHE-RSA-AES256-SHA
type CipherSuite string

// AsksForCertificates tells whether clients are asked for a certificate, which the Secret needs a ca.crt for.
func (t *TLS) AsksForCertificates() bool {
	return t != nil && t.ClientAuth != "" && t.ClientAuth != ClientAuthNone
}

// Auth is memcached's own authentication in its ASCII protocol: a client sends user and password when a connection
// begins.
type Auth struct {
	// secretName names a Secret of this namespace with username and password, or with users: a line user:password each,
	// at most 8 lines of at most 254 bytes, which is what memcached holds. A Secret that changes is live within about
	// 100 seconds, and no node is restarted for it. Connections that are open then stay logged in.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	SecretName string `json:"secretName"`
}

// MetricsMode says whether the nodes export metrics.
//
// +kubebuilder:validation:Enum=Enabled;Disabled
type MetricsMode string

const (
	// MetricsEnabled has the agent beside memcached serve metrics.
	MetricsEnabled MetricsMode = "Enabled"

	// MetricsDisabled serves none. Without TLS and auth there is no agent, either.
	MetricsDisabled MetricsMode = "Disabled"
)

// SlabMetrics says how the metrics of slab classes are served.
//
// +kubebuilder:validation:Enum=Totals;PerClass
type SlabMetrics string

const (
	// SlabMetricsTotals serves one series over all slab classes of a Pod.
	SlabMetricsTotals SlabMetrics = "Totals"

	// SlabMetricsPerClass serves one series for each slab class of a Pod.
	SlabMetricsPerClass SlabMetrics = "PerClass"
)

// Metrics are those of the nodes, for Prometheus.
type Metrics struct {
	// mode Enabled serves the metrics of each node on port 9150 of its Pod, over plain HTTP: they hold no key, no value
	// and no password. Disabled serves none. Defaults to Enabled.
	// +optional
	Mode MetricsMode `json:"mode,omitempty"`

	// slabMetrics says how the metrics of slab classes are served: Totals, over all slab classes of a Pod, about 100
	// series with all others; or PerClass, with a label slab, up to 2,400 series a Pod. Defaults to Totals.
	// +optional
	SlabMetrics SlabMetrics `json:"slabMetrics,omitempty"`
}

// TLSStatus tells of the certificate in the Secret. What a node serves, its metrics tell.
type TLSStatus struct {
	// notAfter is when the certificate ends.
	// +optional
	NotAfter *metav1.Time `json:"notAfter,omitempty"`
}
