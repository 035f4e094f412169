package local

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/cluster/pki"
	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
	"github.com/example-inc/memcached-operator/scripts/cluster/supervisor"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/progress"
)

// prepare writes what the parts find when they start: certificates, kubeconfigs, the Git
// repository and Argo CD's manifests.
func prepare(ctx context.Context, dir rundir.Dir, cluster *Cluster, ports *ports) error {
	if err := os.MkdirAll(dir.Logs(), 0o755); err != nil {
		return err
	}
	if err := writePKI(dir, cluster.Name, ports.api.number); err != nil {
		return fmt.Errorf("write certificates: %w", err)
	}
	initRepo := exec.CommandContext(ctx, "git", "init", "--quiet", "--bare", "--initial-branch=main", dir.Path("repo.git"))
	if out, err := initRepo.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", initRepo, err, out)
	}
	if !cluster.ArgoCD {
		return nil
	}
	return copyArgoFiles(ctx, dir, cluster.ArgoCDVersion)
}

// clients are the users inside of the cluster, each with a kubeconfig.
var clients = map[string]pki.Identity{
	"admin":                   {User: "admin", Groups: []string{"system:masters"}},
	"kube-controller-manager": {User: "system:kube-controller-manager"},
	"kube-scheduler":          {User: "system:kube-scheduler"},
	"kube-proxy":              {User: "system:kube-proxy"},
	"kubelet":                 {User: "system:node:node1", Groups: []string{"system:nodes"}},
	"coredns":                 {User: "coredns", Groups: []string{"system:masters"}},
	"argocd":                  {User: "argocd-application-controller", Groups: []string{"system:masters"}},
}

func writePKI(dir rundir.Dir, cluster string, apiPort int) error {
	authority, err := pki.NewAuthority("memcached-operator " + cluster)
	if err != nil {
		return err
	}
	signing, err := pki.NewSigningKey()
	if err != nil {
		return err
	}
	pairs := map[string]pki.Pair{"ca": authority.Pair, "sa": signing}
	identities := map[string]pki.Identity{
		"admin":       clients["admin"], // also what the API server shows the kubelet
		"front-proxy": {User: "front-proxy"},
		"apiserver": {User: "kube-apiserver", Hosts: []string{
			"localhost", "127.0.0.1", supervisor.NodeIP, supervisor.APIServerIP,
			"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
		}},
	}
	for name, identity := range identities {
		if pairs[name], err = authority.Issue(identity); err != nil {
			return err
		}
	}
	for name, pair := range pairs {
		if err := dir.WritePair(name, pair); err != nil {
			return err
		}
	}
	return writeKubeconfigs(dir, cluster, authority, apiPort)
}

// writeKubeconfigs writes one for each part, which is inside, and one for people, who are outside.
func writeKubeconfigs(dir rundir.Dir, cluster string, authority *pki.Authority, apiPort int) error {
	inside := fmt.Sprintf("https://%s:%d", supervisor.NodeIP, supervisor.APIPort)
	for name, identity := range clients {
		if err := writeKubeconfig(dir.Kubeconfig(name), cluster, inside, authority, identity); err != nil {
			return err
		}
	}
	outside := fmt.Sprintf("https://127.0.0.1:%d", apiPort)
	return writeKubeconfig(dir.Path("kubeconfig"), cluster, outside, authority, clients["admin"])
}

func writeKubeconfig(path, cluster, server string, authority *pki.Authority, id pki.Identity) error {
	pair, err := authority.Issue(id)
	if err != nil {
		return err
	}
	access := rundir.Access{
		Cluster: "memcached-operator-" + cluster, User: id.User, Server: server, Authority: authority.Cert, Pair: pair,
	}
	return access.WriteKubeconfig(path)
}

// copyArgoFiles takes the definitions, default settings and scripts from Argo CD's own module, so that they always fit
// the program.
func copyArgoFiles(ctx context.Context, dir rundir.Dir, version string) error {
	argoCD, err := builds.ArgoCD(version)
	if err != nil {
		return err
	}
	module, err := builds.ModuleDir(ctx, argoCD)
	if err != nil {
		return err
	}
	folders := map[string]string{
		"manifests/crds/*-crd.yaml":           "manifests",
		"manifests/base/config/argocd-*.yaml": "manifests",
		"hack/git-verify-wrapper.sh":          "bin",
	}
	for pattern, folder := range folders {
		paths, err := filepath.Glob(filepath.Join(module, pattern))
		if err != nil {
			return err
		}
		if len(paths) == 0 {
			return fmt.Errorf("the module of Argo CD has no %s", pattern)
		}
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if err := rundir.Write(dir.Argo(folder, filepath.Base(path)), content, 0o755); err != nil {
				return err
			}
		}
	}
	return nil
}

// pushPause puts the image of every Pod's sandbox where containerd looks for it.
func pushPause(ctx context.Context, ref string) error {
	return progress.Stage(ctx, "Pause image", func(func(string)) error {
		image, err := oci.Pause(ctx)
		if err != nil {
			return err
		}
		_, err = oci.Push(ctx, image, ref)
		return err
	})
}
