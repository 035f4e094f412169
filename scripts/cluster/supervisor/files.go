package supervisor

import (
	"bytes"
	"crypto/rand"
	"embed"
	"encoding/base64"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/example-inc/memcached-operator/scripts/cluster/sandbox"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// resync is how often Argo CD looks for new commits. It is short, because a local repository has no webhook.
const resync = "3s"

// files are the templates of the files that the cluster's processes read.
//
//go:embed config
var files embed.FS

func (s *supervisor) render(name string, of node) ([]byte, error) {
	parsed, err := template.New(name).Option("missingkey=error").ParseFS(files, "config/"+name)
	if err != nil {
		return nil, err
	}
	stages, err := filepath.Glob(s.Dir.Path("stages", "*.yaml"))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = parsed.Execute(&out, map[string]any{
		"Dir": s.Dir, "Ports": s.Ports, "Real": s.Real, "CNIDir": s.CNIDir, "AuditMiB": s.AuditMiB,
		"Path": s.path(), "Registry": s.Registry(),
		"Nodes": s.nodes(), "Node": of, "SecondNode": SecondNodeTaint, "NodeIP": NodeIP, "DNSIP": dnsIP,
		"ServiceNetwork": serviceNetwork, "PodNetwork": podNetwork,
		"Snapshotter": sandbox.Snapshotter(string(s.Dir)),
		"Cgroup":      "/" + sandbox.Cgroup(string(s.Dir)),
		"SecretKey":   base64.StdEncoding.EncodeToString([]byte(rand.Text())),
		"Resync":      resync,
		"KwokStages":  strings.Join(stages, ","),
	})
	return out.Bytes(), err
}

// write renders a file of a Node to a path in the run directory. The template has the same name as the last element of
// the path.
func (s *supervisor) write(of node, path string) error {
	content, err := s.render(filepath.Base(path), of)
	if err != nil {
		return err
	}
	extension := filepath.Ext(path)
	return worktree.WriteFile(s.Dir.Path(strings.TrimSuffix(path, extension)+of.Suffix+extension), content, 0o644)
}
