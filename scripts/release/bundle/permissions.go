package bundle

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/kustomize/kyaml/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

// permissionLists says which resources belong in each of the two lists of permissions in the ClusterServiceVersion.
//
//go:embed permissions.yaml
var permissionLists []byte

// permissions removes from the manifests the roles that are bound to the operator's account. It returns the rules of
// these roles, by the list of the ClusterServiceVersion in which they belong. ClusterRoles that are not bound are for
// users, so OLM applies them as they are.
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
		for _, rule := range Field(role, "rules").Content {
			list, err := listFor(lists, rule)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", role.GetKind(), role.GetName(), err)
			}
			rules[list] = append(rules[list], rule)
		}
	}
	for _, role := range m["Role"] {
		return nil, fmt.Errorf("role %s is bound to no account, so OLM would not create it", role.GetName())
	}
	return rules, nil
}

// boundRole removes the role of a binding from the manifests, and returns the role. The only subject of the binding
// must be the operator's account.
func (m manifests) boundRole(binding *yaml.RNode) (*yaml.RNode, error) {
	account := m.one("ServiceAccount").GetName()
	for _, node := range Field(binding, "subjects").Content {
		subject := yaml.NewRNode(node)
		if Field(subject, "kind").Value != "ServiceAccount" || Field(subject, "name").Value != account {
			return nil, fmt.Errorf("OLM gives roles to the ServiceAccount %s only", account)
		}
	}
	kind, name := Field(binding, "roleRef", "kind").Value, Field(binding, "roleRef", "name").Value
	i := slices.IndexFunc(m[kind], func(role *yaml.RNode) bool { return role.GetName() == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no %s %s", kind, name)
	}
	role := m[kind][i]
	m[kind] = slices.Delete(m[kind], i, i+1)
	return role, nil
}

// listFor returns the list to which all resources of a rule belong. A subresource has the scope of its resource.
func listFor(lists map[string][]string, node *yaml.Node) (string, error) {
	var resources []string
	rule := yaml.NewRNode(node)
	for _, group := range Field(rule, "apiGroups").Content {
		for _, resource := range Field(rule, "resources").Content {
			name, _, _ := strings.Cut(resource.Value, "/")
			resources = append(resources, group.Value+"/"+name)
		}
	}
	for list, names := range lists {
		if len(resources) > 0 && sets.New(names...).HasAll(resources...) {
			return list, nil
		}
	}
	return "", fmt.Errorf("the scope of a rule for %q is not known: add each resource to one list in "+
		"scripts/release/bundle/permissions.yaml, and split a rule that has resources of both lists", resources)
}
