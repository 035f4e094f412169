// Package rundir knows where a local cluster keeps its files. The same paths hold outside of the
// cluster's namespaces and inside.
package rundir

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// Dir is the folder of one cluster. All of it goes away with the cluster.
type Dir string

// Path returns the path of a file or folder in the run directory.
func (d Dir) Path(elem ...string) string {
	return filepath.Join(append([]string{string(d)}, elem...)...)
}

// Logs is the folder of the parts' logs, one file each.
func (d Dir) Logs() string { return d.Path("log") }

// Log is the log of one part.
func (d Dir) Log(part string) string { return d.Path("log", part+".log") }

// PKI is a file among the certificates and keys.
func (d Dir) PKI(name string) string { return d.Path("pki", name) }

// Kubeconfig is what a part inside of the cluster speaks to the API server with.
func (d Dir) Kubeconfig(user string) string { return d.Path("pki", user+".kubeconfig") }

// Lock is held by the cluster's init process for as long as the cluster lives.
func (d Dir) Lock() string { return d.Path("lock") }

// Argo is a file or folder of Argo CD.
func (d Dir) Argo(elem ...string) string { return d.Path(append([]string{"argocd"}, elem...)...) }

// WriteJSON replaces a file in one step: a reader sees the old content or the new, never half of it.
func WriteJSON(path string, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return Write(path, append(content, '\n'), 0o600)
}

// ReadJSON reads what WriteJSON wrote.
func ReadJSON(path string, value any) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(content, value)
}

// Write replaces a file in one step and makes its folder where that is missing.
func Write(path string, content []byte, mode os.FileMode) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".new-")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails once it is renamed, which is the usual case
	if _, err := tmp.Write(content); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Chmod(mode); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
