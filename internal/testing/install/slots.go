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

// AllowSlots adds the rules of slots to the operator's role.
func AllowSlots(ctx context.Context, kube client.Client, root string) error {
	rules, err := SlotRules(root)
	if err != nil {
		return err
	}
	role := &rbacv1.ClusterRole{}
	if err := kube.Get(ctx, client.ObjectKey{Name: Role}, role); err != nil {
		return err
	}
	role.Rules = append(role.Rules, rules...)
	return kube.Update(ctx, role)
}

// SlotRules are what an operator may do beyond its role if it was installed with slots.
func SlotRules(root string) (rules []rbacv1.PolicyRule, err error) {
	content, err := os.ReadFile(filepath.Join(root, "overlays/components/slots/rules.yaml"))
	if err != nil {
		return nil, err
	}
	var patch []struct {
		Op, Path string
		Value    rbacv1.PolicyRule
	}
	if err := yaml.UnmarshalStrict(content, &patch); err != nil {
		return nil, fmt.Errorf("rules of slots: %w", err)
	}
	for _, operation := range patch {
		rules = append(rules, operation.Value)
	}
	return rules, nil
}
