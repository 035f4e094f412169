package local

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"

	"github.com/example-inc/memcached-operator/scripts/cluster/pki"
	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
	"github.com/example-inc/memcached-operator/scripts/cluster/supervisor"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

const masters = "system:masters"

// users are the users of the API server. Each has a certificate and a kubeconfig. The API server presents the
// administrator's certificate to the kubelet and to etcd.
var users = map[string]pki.Identity{
	"admin":                   {User: "admin", Groups: []string{masters}},
	"kube-controller-manager": {User: "system:kube-controller-manager"},
	"kube-scheduler":          {User: "system:kube-scheduler"},
	"kube-proxy":              {User: "system:kube-proxy"},
	"kubelet":                 {User: "system:node:node1", Groups: []string{"system:nodes"}},
	"kubelet-2":               {User: "system:node:node2", Groups: []string{"system:nodes"}},
	"coredns":                 {User: "coredns", Groups: []string{masters}},
	"argocd":                  {User: "argocd-application-controller", Groups: []string{masters}},
	"kwok":                    {User: "kwok", Groups: []string{masters}},
}

// others are identities with a certificate and no kubeconfig. etcd and the API server serve with the certificate of
// "server". With the key of "sa", the API server signs the tokens of service accounts.
var others = map[string]pki.Identity{
	"front-proxy": {User: "front-proxy"},
	"sa":          {User: "service-account-tokens"},
	"server": {User: "server", Hosts: []string{
		"localhost", "127.0.0.1", supervisor.NodeIP, supervisor.APIServerIP,
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
	}},
}

// writeAccess writes certificates, keys and kubeconfigs. It writes the administrator's kubeconfig also at the top of
// the folder.
func writeAccess(dir rundir.Dir, name string, apiPort int) error {
	authority, err := pki.NewAuthority("memcached-operator " + name)
	if err != nil {
		return err
	}
	pairs := map[string]pki.Pair{"ca": authority.Pair}
	all := maps.Clone(others)
	maps.Copy(all, users)
	for file, identity := range all {
		if pairs[file], err = authority.Issue(identity); err != nil {
			return err
		}
	}
	for file, pair := range pairs {
		err := errors.Join(
			worktree.WriteFile(dir.PKI(file+".crt"), pair.Cert, 0o644),
			worktree.WriteFile(dir.PKI(file+".key"), pair.Key, 0o600))
		if _, isUser := users[file]; isUser && err == nil {
			err = worktree.WriteFile(dir.Kubeconfig(file), kubeconfigOf(name, apiPort, authority.Cert, pair), 0o600)
		}
		if err != nil {
			return err
		}
	}
	return worktree.WriteFile(dir.Path("kubeconfig"), kubeconfigOf(name, apiPort, authority.Cert, pairs["admin"]), 0o600)
}

const kubeconfig = `apiVersion: v1
kind: Config
current-context: %[1]s
contexts: [{name: %[1]s, context: {cluster: %[1]s, user: %[1]s}}]
clusters: [{name: %[1]s, cluster: {server: 'https://127.0.0.1:%[2]d', certificate-authority-data: %[3]s}}]
users: [{name: %[1]s, user: {client-certificate-data: %[4]s, client-key-data: %[5]s}}]
`

func kubeconfigOf(name string, apiPort int, ca []byte, user pki.Pair) []byte {
	name = "memcached-operator-" + name // a unique name, so that kubeconfigs can be merged
	encode := base64.StdEncoding.EncodeToString
	return fmt.Appendf(nil, kubeconfig, name, apiPort, encode(ca), encode(user.Cert), encode(user.Key))
}
