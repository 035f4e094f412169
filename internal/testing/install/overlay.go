package install

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Overlay deploys an overlay of the repository at root with slots, or replaces the operator that is there, as a user
// does. The images are by their names in the overlay.
func Overlay(ctx context.Context, root, kubeconfig, overlay string, images map[string]string) error {
	dir, err := withSlots(root, overlay)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	deploy := exec.CommandContext(ctx, "go", "run", "./scripts/deploy", "apply", dir, "--kubeconfig="+kubeconfig)
	for name, image := range images {
		deploy.Args = append(deploy.Args, "--set-image="+name+"="+image)
	}
	deploy.Dir = root
	if out, err := deploy.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", deploy, err, out)
	}
	return nil
}

// withSlots writes a kustomization of an overlay and the component for slots.
func withSlots(root, overlay string) (dir string, err error) {
	dir, err = os.MkdirTemp("", "overlay-")
	if err != nil {
		return "", err
	}
	relative, err := filepath.Rel(dir, root)
	if err != nil {
		return "", err
	}
	content := fmt.Sprintf("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"+
		"resources: [%[1]s/overlays/%[2]s]\ncomponents: [%[1]s/overlays/components/slots]\n", relative, overlay)
	return dir, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(content), 0o600)
}
