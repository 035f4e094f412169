package bundle

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/kustomize/kyaml/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

// permissionLists has the resources of the operator's rules by the list of the ClusterServiceVersion that they are in.
//
//go:embed permissions.yaml
var permissionLists []byte

// permissions takes the roles that are bound to the operator's account out of the manifests, and returns their rules by
// the list of the ClusterServiceVersion. Unbound ClusterRoles are for users: OLM applies them as they are.
func (m manifests) permissions() (map[string][]*yaml.Node, error) {
	var lists map[string][]string
	if err := sigsyaml.Unmarshal(permissionLists, &lists); err != nil {
		return nil, fmt.Errorf("permissions.yaml: %w", err)
	}
	rules := map[string][]*yaml.Node{}
	for _, binding := range slices.Concat(m["ClusterRoleBinding"], m["RoleBinding"]) {
		role, err := m.boundRole(binding)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", binding.GetKind(), binding.GetName(), err)
		}
		var decoded rbacv1.ClusterRole
		if err := sigsyaml.Unmarshal([]byte(role.MustString()), &decoded); err != nil {
			return nil, err
		}
		for i, node := range Field(role, "rules").Content {
			list, err := listFor(lists, decoded.Rules[i])
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", role.GetKind(), role.GetName(), err)
			}
			rules[list] = append(rules[list], node)
		}
	}
	for _, role := range m["Role"] {
		return nil, fmt.Errorf("role %s is bound to no account: OLM would not create it", role.GetName())
	}
	return rules, nil
}

// boundRole takes the role of a binding, whose only subject must be the operator's account, out of the manifests.
func (m manifests) boundRole(binding *yaml.RNode) (*yaml.RNode, error) {
	var b rbacv1.ClusterRoleBinding
	if err := sigsyaml.Unmarshal([]byte(binding.MustString()), &b); err != nil {
		return nil, err
	}
	account := m.one("ServiceAccount").GetName()
	for _, subject := range b.Subjects {
		if subject.Kind != "ServiceAccount" || subject.Name != account {
			return nil, fmt.Errorf("OLM gives roles to the ServiceAccount %s only", account)
		}
	}
	roles := m[b.RoleRef.Kind]
	i := slices.IndexFunc(roles, func(role *yaml.RNode) bool { return role.GetName() == b.RoleRef.Name })
	if i < 0 {
		return nil, fmt.Errorf("there is no %s %s", b.RoleRef.Kind, b.RoleRef.Name)
	}
	role := roles[i]
	m[b.RoleRef.Kind] = slices.Delete(roles, i, i+1)
	return role, nil
}

// listFor finds the list that all resources of a rule belong in. A subresource has the scope of its resource.
func listFor(lists map[string][]string, rule rbacv1.PolicyRule) (string, error) {
	var resources []string
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			name, _, _ := strings.Cut(resource, "/")
			resources = append(resources, group+"/"+name)
		}
	}
	for list, names := range lists {
		if len(resources) > 0 && sets.New(names...).HasAll(resources...) {
			return list, nil
		}
	}
	return "", fmt.Errorf("the scope of a rule for %q is not known: add each resource to one list in "+
		"scripts/release/bundle/permissions.yaml, and split a rule for both lists", resources)
}
