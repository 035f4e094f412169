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
}

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

// Metrics are those of the nodes, for Prometheus.
type Metrics struct {
	// mode Enabled serves the metrics of each node on port 9150 of its Pod, over plain HTTP: they hold no key, no value
	// and no password. Disabled serves none. Defaults to Enabled.
	// +optional
	Mode MetricsMode `json:"mode,omitempty"`
}

// TLSStatus tells of the certificate in the Secret. What a node serves, its metrics tell.
type TLSStatus struct {
	// notAfter is when the certificate ends.
	// +optional
	NotAfter *metav1.Time `json:"notAfter,omitempty"`
}
