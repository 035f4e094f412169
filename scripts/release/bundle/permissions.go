package bundle

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/kustomize/kyaml/yaml"
	sigsyaml "sigs.k8s.io/yaml"
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

// lists has each resource in the operator's rules under the list that it belongs in. Whoever adds a rule decides.
// Nodes and APIServices are cluster-scoped, but only an operator that serves all namespaces reads them, and for that
// OLM creates ClusterRoles from permissions. In a Role the rule has no effect.
var lists = map[string]sets.Set[string]{
	"permissions": sets.New(
		"/events", "/nodes", "/pods", "/secrets", "/services", "apiregistration.k8s.io/apiservices", "apps/deployments",
		apiGroup+"/memcacheds", "coordination.k8s.io/leases", "events.k8s.io/events",
		"networking.k8s.io/networkpolicies", "policy/poddisruptionbudgets",
	),
	"clusterPermissions": sets.New("authentication.k8s.io/tokenreviews", "authorization.k8s.io/subjectaccessreviews"),
}

// permissions takes the roles that are bound to the operator's account out of the manifests, and returns their rules by
// the list of the ClusterServiceVersion. Unbound ClusterRoles are for users: OLM applies them as they are.
func (m manifests) permissions() (map[string][]*yaml.Node, error) {
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
		for i, node := range field(role, "rules").Content {
			list, err := listFor(decoded.Rules[i])
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
func listFor(rule rbacv1.PolicyRule) (string, error) {
	var resources []string
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			name, _, _ := strings.Cut(resource, "/")
			resources = append(resources, group+"/"+name)
		}
	}
	for list, known := range lists {
		if len(resources) > 0 && known.HasAll(resources...) {
			return list, nil
		}
	}
	return "", fmt.Errorf("the scope of a rule for %q is not known: add each resource to one list in "+
		"scripts/release/bundle/permissions.go, and split a rule for both lists", resources)
}
