package rows

import (
	"context"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/scripts/cluster/pki"
)

// serverName is whom the certificate names.
const serverName = "cache.bench"

// makeSecrets makes those of the caches, and returns by which flags the client is let in by them.
func (p *path) makeSecrets(ctx context.Context, dir string) (tls, auth []string, err error) {
	authority, err := pki.NewAuthority("bench")
	if err != nil {
		return nil, nil, err
	}
	server, err := authority.Issue(pki.Identity{User: "bench", Hosts: []string{serverName}})
	if err != nil {
		return nil, nil, err
	}
	const user, password = "bench", "figures"
	for name, content := range map[string]map[string]string{
		tlsSecret:  {"tls.crt": string(server.Cert), "tls.key": string(server.Key)},
		authSecret: {"username": user, "password": password},
	} {
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: dataNamespace, Name: name}, StringData: content,
		}
		if err := p.lab.Client.Create(ctx, secret); err != nil {
			return nil, nil, err
		}
	}
	ca, passwordFile := filepath.Join(dir, "ca.crt"), filepath.Join(dir, "password")
	if err := os.WriteFile(ca, authority.Cert, 0o600); err != nil {
		return nil, nil, err
	}
	tls = []string{"--tls", "--ca=" + ca, "--server-name=" + serverName}
	auth = []string{"--user=" + user, "--password-file=" + passwordFile}
	return tls, auth, os.WriteFile(passwordFile, []byte(password), 0o600)
}
