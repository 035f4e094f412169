package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// SlotRules adds the rights of overlays/components/slots to the operator's role.
func SlotRules(ctx context.Context, kube client.Client, root string) error {
	content, err := os.ReadFile(filepath.Join(root, "overlays/components/slots/rules.yaml"))
	if err != nil {
		return err
	}
	var patch []struct {
		Op, Path string
		Value    rbacv1.PolicyRule
	}
	if err := yaml.UnmarshalStrict(content, &patch); err != nil {
		return fmt.Errorf("rules of slots: %w", err)
	}
	role := &rbacv1.ClusterRole{}
	if err := kube.Get(ctx, client.ObjectKey{Name: Role}, role); err != nil {
		return err
	}
	for _, operation := range patch {
		role.Rules = append(role.Rules, operation.Value)
	}
	return kube.Update(ctx, role)
}
