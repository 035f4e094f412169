package simulated

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/cluster/pki"
	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

// prepare writes what the keeper and the parts find when they start.
func prepare(ctx context.Context, dir rundir.Dir, opts Options, binaries builds.Binaries) error {
	config := keeperConfig{Binaries: binaries, Audited: opts.AuditPolicy != ""}
	for _, port := range []*int{&config.APIPort, &config.EtcdPort, &config.PeerPort} {
		var err error
		if *port, err = freePort(); err != nil {
			return err
		}
	}
	if err := writeIdentities(dir, opts.Name, config.APIPort); err != nil {
		return fmt.Errorf("write certificates: %w", err)
	}
	if err := writeStages(ctx, dir); err != nil {
		return err
	}
	if config.Audited {
		if err := rundir.Write(auditPolicy(dir), []byte(opts.AuditPolicy), 0o600); err != nil {
			return err
		}
	}
	return rundir.WriteJSON(configPath(dir), config)
}

func auditPolicy(dir rundir.Dir) string { return dir.Path("audit-policy.yaml") }
func auditLog(dir rundir.Dir) string    { return dir.Path("audit.log") }

// Ports are taken from a range that no system hands out by itself: none of them is taken before its part starts.
const (
	firstPort  = 17000
	manyPorts  = 10000
	portsTried = 50
)

func freePort() (int, error) {
	for range portsTried {
		port := firstPort + rand.N(manyPorts)
		listener, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return port, listener.Close()
		}
	}
	return 0, fmt.Errorf("no free port on 127.0.0.1 among %d tried from %d on", portsTried, firstPort)
}

// clients are the users of the API server, each with a kubeconfig.
var clients = map[string]pki.Identity{
	"admin":                   {User: "admin", Groups: []string{"system:masters"}},
	"kwok":                    {User: "kwok", Groups: []string{"system:masters"}},
	"kube-controller-manager": {User: "system:kube-controller-manager"},
	"kube-scheduler":          {User: "system:kube-scheduler"},
}

func writeIdentities(dir rundir.Dir, name string, apiPort int) error {
	authority, err := pki.NewAuthority("memcached-operator simulated " + name)
	if err != nil {
		return err
	}
	signing, err := pki.NewSigningKey()
	if err != nil {
		return err
	}
	server, err := authority.Issue(pki.Identity{User: "server", Hosts: []string{"localhost", "127.0.0.1"}})
	if err != nil {
		return err
	}
	pairs := map[string]pki.Pair{"ca": authority.Pair, "sa": signing, "server": server}
	address := fmt.Sprintf("https://127.0.0.1:%d", apiPort)
	for user, identity := range clients {
		if pairs[user], err = authority.Issue(identity); err != nil {
			return err
		}
		path := dir.Kubeconfig(user)
		if user == "admin" {
			path = dir.Path("kubeconfig")
		}
		access := rundir.Access{
			Cluster: "simulated-" + name, User: "simulated-" + name, Server: address,
			Authority: authority.Cert, Pair: pairs[user],
		}
		if err := access.WriteKubeconfig(path); err != nil {
			return err
		}
	}
	for file, pair := range pairs {
		if err := dir.WritePair(file, pair); err != nil {
			return err
		}
	}
	return nil
}

// writeStages takes what kwok does with nodes and Pods from its own module, so that it fits the program.
func writeStages(ctx context.Context, dir rundir.Dir) error {
	module, err := builds.ModuleDir(ctx, builds.Kwok)
	if err != nil {
		return err
	}
	var stages [][]byte
	for _, stage := range []string{"node/fast", "node/heartbeat-with-lease", "pod/fast"} {
		kustomizer := krusty.MakeKustomizer(krusty.MakeDefaultOptions())
		built, err := kustomizer.Run(filesys.MakeFsOnDisk(), filepath.Join(module, "kustomize", "stage", stage))
		if err != nil {
			return fmt.Errorf("build kwok's stages %s: %w", stage, err)
		}
		content, err := built.AsYaml()
		if err != nil {
			return err
		}
		stages = append(stages, content)
	}
	return rundir.Write(stagesPath(dir), bytes.Join(stages, []byte("---\n")), 0o644)
}

func stagesPath(dir rundir.Dir) string { return dir.Path("stages.yaml") }
