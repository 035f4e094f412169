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

// scoped maps each resource in the operator's rules to whether it belongs in clusterPermissions. A missing resource is
// an error: whoever adds a rule decides.
var scoped = map[string]bool{
	"/events": false,
	// Nodes and APIServices are cluster-scoped, but only an operator that serves all namespaces reads them, and then
	// OLM creates ClusterRoles from permissions. In a Role the rule has no effect.
	"/nodes":                             false,
	"/pods":                              false,
	"/secrets":                           false,
	"/services":                          false,
	"apiregistration.k8s.io/apiservices": false,
	"apps/deployments":                   false,
	"authentication.k8s.io/tokenreviews": true,
	"authorization.k8s.io/subjectaccessreviews": true,
	"cache.example.com/memcacheds":              false,
	"coordination.k8s.io/leases":                false,
	"events.k8s.io/events":                      false,
	"networking.k8s.io/networkpolicies":         false,
	"policy/poddisruptionbudgets":               false,
}

// permissions are the rules of the operator's ServiceAccount, as the ClusterServiceVersion has them.
type permissions struct {
	cluster, namespaced []*yaml.Node
}

// permissions takes the roles that are bound to the operator's account out of the manifests. Unbound ClusterRoles are
// for users: OLM applies them.
func (m *manifests) permissions() (p permissions, err error) {
	slices.SortStableFunc(m.bindings, func(a, b *yaml.RNode) int { return strings.Compare(a.GetKind(), b.GetKind()) })
	for _, binding := range m.bindings {
		name, err := boundRole(binding, m.account.GetName())
		if err != nil {
			return p, err
		}
		i := slices.IndexFunc(m.roles, func(role *yaml.RNode) bool { return role.GetKind()+"/"+role.GetName() == name })
		if i < 0 {
			return p, fmt.Errorf("%s %s: there is no %s", binding.GetKind(), binding.GetName(), name)
		}
		if err := p.add(m.roles[i]); err != nil {
			return p, fmt.Errorf("%s: %w", name, err)
		}
		m.roles = slices.Delete(m.roles, i, i+1)
	}
	for _, role := range m.roles {
		if role.GetKind() == "Role" {
			return p, fmt.Errorf("role %s is bound to no account: OLM would give it to nobody", role.GetName())
		}
	}
	m.applied = append(m.applied, m.roles...)
	return p, nil
}

// boundRole names the role of a binding, whose only subject must be the operator's account.
func boundRole(binding *yaml.RNode, account string) (string, error) {
	var content struct {
		RoleRef  struct{ Kind, Name string } `yaml:"roleRef"`
		Subjects []struct{ Kind, Name string }
	}
	if err := binding.YNode().Decode(&content); err != nil {
		return "", err
	}
	for _, subject := range content.Subjects {
		if subject.Kind != "ServiceAccount" || subject.Name != account {
			return "", fmt.Errorf("%s %s: OLM gives roles to the ServiceAccount %s only, not to %s %s",
				binding.GetKind(), binding.GetName(), account, subject.Kind, subject.Name)
		}
	}
	return content.RoleRef.Kind + "/" + content.RoleRef.Name, nil
}

// add puts each rule of a role into one of the lists.
func (p *permissions) add(role *yaml.RNode) error {
	rules := field(role, "rules")
	if rules == nil {
		return nil
	}
	for _, node := range rules.Content {
		cluster, err := isClusterWide(node)
		if err != nil {
			return err
		}
		if cluster {
			p.cluster = append(p.cluster, node)
		} else {
			p.namespaced = append(p.namespaced, node)
		}
	}
	return nil
}

func isClusterWide(node *yaml.Node) (cluster bool, err error) {
	var rule struct {
		APIGroups []string `yaml:"apiGroups"`
		Resources []string
	}
	if err := node.Decode(&rule); err != nil {
		return false, err
	}
	scopes := map[bool]bool{}
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			name, _, _ := strings.Cut(resource, "/") // A subresource has the scope of its resource.
			known := false
			if cluster, known = scoped[group+"/"+name]; !known {
				return false, fmt.Errorf("the scope of %s/%s is not known: add it to the table in "+
					"scripts/release/bundle/permissions.go", group, resource)
			}
			scopes[cluster] = true
		}
	}
	if len(scopes) != 1 {
		return false, fmt.Errorf("a rule for %v in %v has not one scope: split it", rule.Resources, rule.APIGroups)
	}
	return cluster, nil
}
