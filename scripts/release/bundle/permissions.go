package bundle

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// OLM creates the operator's roles from two lists of the ClusterServiceVersion:
//
//   - clusterPermissions become ClusterRoles, in each install mode;
//   - permissions become Roles in the operator's namespace and in each target namespace, or ClusterRoles if the target
//     is all namespaces.
//
// So rules for namespaced resources belong in permissions: in clusterPermissions they would hold for the whole cluster,
// whichever namespaces an administrator chose. That includes the Lease of the leader election, which is only in the
// operator's namespace: OLM has nothing narrower, as a Role in the bundle cannot name the account's namespace.

// scopes has each resource in the operator's rules under the list that it belongs in. Whoever adds a rule decides.
// Nodes and APIServices are cluster-scoped, but only an operator that serves all namespaces reads them, and for that
// OLM creates ClusterRoles from permissions. In a Role the rule has no effect.
var scopes = []scope{
	{"permissions", []string{
		"/events", "/nodes", "/pods", "/secrets", "/services", "apiregistration.k8s.io/apiservices", "apps/deployments",
		apiGroup + "/memcacheds", "coordination.k8s.io/leases", "events.k8s.io/events",
		"networking.k8s.io/networkpolicies", "policy/poddisruptionbudgets",
	}},
	{"clusterPermissions", []string{"authentication.k8s.io/tokenreviews", "authorization.k8s.io/subjectaccessreviews"}},
}

type scope struct {
	list      string
	resources []string
}

// permissions takes the roles that are bound to the operator's account out of the manifests, and returns their rules by
// the list of the ClusterServiceVersion. Unbound ClusterRoles are for users: OLM applies them as they are.
func (m manifests) permissions() (map[string][]*yaml.Node, error) {
	rules := map[string][]*yaml.Node{}
	for _, binding := range slices.Concat(m["ClusterRoleBinding"], m["RoleBinding"]) {
		role, err := m.boundRole(binding)
		if err != nil {
			return nil, err
		}
		for _, rule := range field(role, "rules").Content {
			list, err := listFor(rule)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", role.GetKind(), role.GetName(), err)
			}
			rules[list] = append(rules[list], rule)
		}
	}
	for _, role := range m["Role"] {
		return nil, fmt.Errorf("role %s is bound to no account: OLM would not create it", role.GetName())
	}
	return rules, nil
}

// boundRole takes the role of a binding, whose only subject must be the operator's account, out of the manifests.
func (m manifests) boundRole(binding *yaml.RNode) (*yaml.RNode, error) {
	account := m.one("ServiceAccount").GetName()
	for _, node := range field(binding, "subjects").Content {
		if subject := yaml.NewRNode(node); field(subject, "name").Value != account || subject.GetKind() != "ServiceAccount" {
			return nil, fmt.Errorf("%s %s: OLM gives roles to the ServiceAccount %s only",
				binding.GetKind(), binding.GetName(), account)
		}
	}
	kind, name := field(binding, "roleRef", "kind").Value, field(binding, "roleRef", "name").Value
	i := slices.IndexFunc(m[kind], func(role *yaml.RNode) bool { return role.GetName() == name })
	if i < 0 {
		return nil, fmt.Errorf("%s %s: there is no %s %s", binding.GetKind(), binding.GetName(), kind, name)
	}
	role := m[kind][i]
	m[kind] = slices.Delete(m[kind], i, i+1)
	return role, nil
}

// listFor finds the list of a rule, which must be the same for all its resources.
func listFor(node *yaml.Node) (string, error) {
	var rule struct {
		APIGroups []string `yaml:"apiGroups"`
		Resources []string
	}
	if err := node.Decode(&rule); err != nil {
		return "", err
	}
	var lists []string
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			name, _, _ := strings.Cut(resource, "/") // A subresource has the scope of its resource.
			name = group + "/" + name
			i := slices.IndexFunc(scopes, func(s scope) bool { return slices.Contains(s.resources, name) })
			if i < 0 {
				return "", fmt.Errorf("the scope of %s/%s is not known: add it to the table in "+
					"scripts/release/bundle/permissions.go", group, resource)
			}
			lists = append(lists, scopes[i].list)
		}
	}
	if lists = slices.Compact(lists); len(lists) != 1 {
		return "", fmt.Errorf("a rule for %v in %v has not one scope: split it", rule.Resources, rule.APIGroups)
	}
	return lists[0], nil
}
