package reach

// The certificates and users that memcached servers require of a client, from Secrets that the user may read, or from
// files.

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/agent/mounted"
	"github.com/example-inc/memcached-operator/operator/internal/secrets"
	"github.com/example-inc/memcached-operator/operator/internal/secrets/certs"
	"github.com/example-inc/memcached-operator/operator/internal/secrets/users"
)

// Files have the content of files that a user names who has no rights to read Secrets.
type Files struct {
	CA               string // PEM of the CAs of the servers
	Certificate, Key string // PEM of a client certificate
	Users            string // lines of the form user:password
}

// Flags that name the files.
const (
	FlagCA          = "memcached-ca"
	FlagCertificate = "memcached-certificate"
	FlagKey         = "memcached-key"
	FlagUsers       = "memcached-users"
)

// Credentials are what the servers of a cache require.
type Credentials struct {
	// TLS is nil for plaintext.
	TLS *tls.Config

	// Users are empty if memcached requires no password.
	Users []users.User
}

// CredentialsOf reads the credentials of a cache, from as few Secrets as possible. It prefers the Secret of a binding,
// which has no private key.
func CredentialsOf(
	ctx context.Context, reader client.Reader, mc *cachev1.Memcached, files Files,
) (Credentials, error) {
	var found Credentials
	var err error
	source := source{ctx, reader, mc}
	if mc.Spec.TLS != nil {
		if found.TLS, err = source.tls(files); err != nil {
			return found, err
		}
	}
	if mc.Spec.Auth != nil {
		found.Users, err = source.users(files)
	}
	return found, err
}

type source struct {
	ctx    context.Context
	reader client.Reader
	mc     *cachev1.Memcached
}

func (s source) tls(files Files) (*tls.Config, error) {
	bound := s.mc.Status.Binding != nil && !s.mc.Spec.TLS.RequestsCertificates()
	switch {
	case files.CA != "":
		return s.tlsByFiles(files)
	case bound:
		secret, err := s.secret(s.mc.Status.Binding.Name, FlagCA)
		if err != nil {
			return nil, err
		}
		if len(secret[certs.KeyClientCA]) > 0 {
			return s.byAuthority(secret[certs.KeyClientCA],
				fmt.Sprintf("%s of the Secret %s/%s", certs.KeyClientCA, s.mc.Namespace, s.mc.Status.Binding.Name))
		}
	}
	secret, err := s.secret(s.mc.TLSSecretName(), FlagCA)
	if err != nil {
		return nil, err
	}
	config, err := mounted.PeerBy(secret)
	if err != nil {
		return nil, fmt.Errorf("the Secret %s/%s is invalid: %w", s.mc.Namespace, s.mc.TLSSecretName(), err)
	}
	return config, nil
}

func (s source) tlsByFiles(files Files) (*tls.Config, error) {
	content, err := os.ReadFile(files.CA)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", FlagCA, err)
	}
	config, err := s.byAuthority(content, fmt.Sprintf("--%s %s", FlagCA, files.CA))
	if err != nil || files.Certificate == "" {
		return config, err
	}
	pair, err := tls.LoadX509KeyPair(files.Certificate, files.Key)
	if err != nil {
		return nil, fmt.Errorf("--%s %s and --%s %s are no key pair: %w",
			FlagCertificate, files.Certificate, FlagKey, files.Key, err)
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}

// byAuthority accepts certificates that a CA issued for one of the names with which clients connect to the cache. The
// plugin reaches a Pod by its name in the API, which is not in the certificate, so it can't verify the Pod by that
// name.
func (s source) byAuthority(authorities []byte, from string) (*tls.Config, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authorities) {
		return nil, fmt.Errorf("%s has no CA in PEM: the servers of %s/%s cannot be verified",
			from, s.mc.Namespace, s.mc.Name)
	}
	hosts := hostsOf(s.mc)
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, // VerifyConnection verifies
		VerifyConnection: func(state tls.ConnectionState) error {
			leaf, intermediates := state.PeerCertificates[0], x509.NewCertPool()
			for _, certificate := range state.PeerCertificates[1:] {
				intermediates.AddCert(certificate)
			}
			if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: intermediates}); err != nil {
				return err
			}
			named := secrets.State{DNSNames: leaf.DNSNames}
			if slices.ContainsFunc(hosts, named.Covers) {
				return nil
			}
			return fmt.Errorf("the certificate is for %q, and for none of %q", leaf.DNSNames, hosts)
		},
	}, nil
}

// hostsOf returns the names with which clients connect.
func hostsOf(mc *cachev1.Memcached) []string {
	hosts := []string{mc.Name + "." + mc.Namespace + ".svc"}
	for _, slot := range mc.Status.Slots {
		if host, _, err := net.SplitHostPort(slot.Address); err == nil {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

func (s source) users(files Files) ([]users.User, error) {
	if files.Users != "" {
		content, err := os.ReadFile(files.Users)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", FlagUsers, err)
		}
		list, err := users.ParseFile(content)
		if err != nil {
			return nil, fmt.Errorf("--%s %s: %w", FlagUsers, files.Users, err)
		}
		return list, nil
	}
	name := s.mc.Spec.Auth.SecretName
	if s.mc.Status.Binding != nil {
		name = s.mc.Status.Binding.Name
	}
	secret, err := s.secret(name, FlagUsers)
	if err != nil {
		return nil, err
	}
	list, err := users.Parse(secret)
	if err != nil {
		return nil, fmt.Errorf("the Secret %s/%s is invalid: %w", s.mc.Namespace, name, err)
	}
	return list, nil
}

// secret reads a Secret. The error names the flag of a file that may be given instead.
func (s source) secret(name, flag string) (map[string][]byte, error) {
	secret := &corev1.Secret{}
	err := s.reader.Get(s.ctx, client.ObjectKey{Namespace: s.mc.Namespace, Name: name}, secret)
	switch {
	case apierrors.IsForbidden(err):
		return nil, fmt.Errorf("you have no right to get Secret %s/%s: add it to your Role, or give a file by --%s (%w)",
			s.mc.Namespace, name, flag, err)
	case err != nil:
		return nil, fmt.Errorf("read Secret %s/%s: %w", s.mc.Namespace, name, err)
	}
	return secret.Data, nil
}

// Check returns an error if a file is given without another file that it needs.
func (f Files) Check() error {
	switch {
	case (f.Certificate == "") != (f.Key == ""):
		return fmt.Errorf("--%s and --%s belong together: give both", FlagCertificate, FlagKey)
	case f.Certificate != "" && f.CA == "":
		return errors.New("--" + FlagCertificate + " needs --" + FlagCA + ": give the CAs of the servers, too")
	}
	return nil
}
