package environment

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// podDelay has a Pod take 0.1 to 0.6 seconds until it is ready. kwok alone takes so little time that what happens
// before a Pod is ready would hardly ever be tried.
const podDelay = "\n  delay: {durationMilliseconds: 100, jitterDurationMilliseconds: 600}"

// delayPods changes what kwok does. It reads that when it starts, and is started again when it is killed.
func (e *Environment) delayPods() error {
	path := filepath.Join(filepath.Dir(e.Cluster.Kubeconfig), "stages", "pod-ready.yaml")
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	const after = "\n  next:"
	delayed := bytes.Replace(content, []byte(after), []byte(podDelay+after), 1)
	if bytes.Equal(delayed, content) {
		return fmt.Errorf("%s has no %q: adapt delayPods to this version of kwok", path, after)
	}
	if err := os.WriteFile(path, delayed, 0o600); err != nil {
		return err
	}
	return e.Cluster.Kill("kwok")
}
