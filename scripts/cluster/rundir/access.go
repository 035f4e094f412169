package rundir

import (
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/example-inc/memcached-operator/scripts/cluster/pki"
)

// Access is how a user speaks to the API server of a cluster.
type Access struct {
	Cluster, User, Server string // in the kubeconfig, the context has the cluster's name

	Authority []byte // certificate that the server's is signed by
	Pair      pki.Pair
}

// WriteKubeconfig writes it for programs to read.
func (a Access) WriteKubeconfig(path string) error {
	config := clientcmdapi.NewConfig()
	config.Clusters[a.Cluster] = &clientcmdapi.Cluster{Server: a.Server, CertificateAuthorityData: a.Authority}
	config.AuthInfos[a.User] = &clientcmdapi.AuthInfo{ClientCertificateData: a.Pair.Cert, ClientKeyData: a.Pair.Key}
	config.Contexts[a.Cluster] = &clientcmdapi.Context{Cluster: a.Cluster, AuthInfo: a.User}
	config.CurrentContext = a.Cluster
	content, err := clientcmd.Write(*config)
	if err != nil {
		return err
	}
	return Write(path, content, 0o600)
}

// WritePair writes a certificate and its key to where PKI finds them.
func (d Dir) WritePair(name string, pair pki.Pair) error {
	if err := Write(d.PKI(name+".crt"), pair.Cert, 0o644); err != nil {
		return err
	}
	return Write(d.PKI(name+".key"), pair.Key, 0o600)
}
