package bundle

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// OLM gives the operator what its ClusterServiceVersion lists, by its install mode:
//
//   - clusterPermissions become ClusterRoles, in each mode;
//   - permissions become Roles in the operator's namespace and in each target namespace, and ClusterRoles where all
//     namespaces are the target.
//
// So what lives in namespaces belongs into permissions: in clusterPermissions it would hold for the whole cluster,
// whatever namespaces an administrator chose. That goes for the Lease of the leader election too, though it lies in
// the operator's namespace alone: OLM has nothing narrower, a Role in the bundle could not name the namespace of the
// account that it is bound to. Only what has no namespace belongs into clusterPermissions.

// scoped tells of each resource in a rule of ours whether it has no namespace. A resource that is missing is an
// error: whoever adds a rule decides.
var scoped = map[string]bool{
	"/events": false,
	// Nodes and APIServices have no namespace, and yet they belong into permissions: only an operator that serves all
	// namespaces asks for them, and only there OLM makes a ClusterRole of permissions. In a Role the rule gives nothing.
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

// permissions are the rules of one service account, as the ClusterServiceVersion has them.
type permissions struct {
	cluster, namespaced []*yaml.Node
}

// bindPermissions moves the rules that are bound to the operator's account out of the manifests. Roles that are
// bound to nobody are there for people, and stay.
func (m *manifests) bindPermissions() (permissions, error) {
	var p permissions
	account := m.account.GetName()
	for _, binding := range m.bindings {
		name, err := boundRole(binding, account)
		if err != nil {
			return p, err
		}
		i := slices.IndexFunc(m.roles, func(role *yaml.RNode) bool { return role.GetKind()+"/"+role.GetName() == name })
		if i < 0 {
			return p, fmt.Errorf("%s %s: there is no %s", binding.GetKind(), binding.GetName(), name)
		}
		if err := p.add(m.roles[i]); err != nil {
			return p, err
		}
		m.roles = slices.Delete(m.roles, i, i+1)
	}
	for _, role := range m.roles {
		if role.GetKind() == "Role" {
			return p, fmt.Errorf("role %s is bound to nobody: nobody has it where OLM installs the operator", role.GetName())
		}
	}
	m.kept = append(m.kept, m.roles...)
	return p, nil
}

// boundRole names the role of a binding, which must be to the operator's account alone.
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
			return "", fmt.Errorf("%s %s: OLM can give roles to the ServiceAccount %s alone, not to %s %s",
				binding.GetKind(), binding.GetName(), account, subject.Kind, subject.Name)
		}
	}
	return content.RoleRef.Kind + "/" + content.RoleRef.Name, nil
}

// add sorts the rules of a role.
func (p *permissions) add(role *yaml.RNode) error {
	rules, err := role.Pipe(yaml.Lookup("rules"))
	if err != nil {
		return err
	}
	for _, rule := range rules.Content() {
		clusterWide, err := isClusterScoped(rule)
		if err != nil {
			return fmt.Errorf("%s %s: %w", role.GetKind(), role.GetName(), err)
		}
		if clusterWide {
			p.cluster = append(p.cluster, rule)
		} else {
			p.namespaced = append(p.namespaced, rule)
		}
	}
	return nil
}

func isClusterScoped(node *yaml.Node) (bool, error) {
	var rule struct {
		APIGroups []string `yaml:"apiGroups"`
		Resources []string
		URLs      []string `yaml:"nonResourceURLs"`
	}
	if err := node.Decode(&rule); err != nil {
		return false, err
	}
	return IsClusterScoped(rule.APIGroups, rule.Resources, rule.URLs)
}

// IsClusterScoped tells whether what a rule is for has no namespace.
func IsClusterScoped(groups, resources, urls []string) (bool, error) {
	if len(urls) > 0 {
		return true, nil
	}
	seen := map[bool]bool{}
	for _, group := range groups {
		for _, resource := range resources {
			name, _, _ := strings.Cut(resource, "/") // A subresource is where its resource is.
			clusterWide, known := scoped[group+"/"+name]
			if !known {
				return false, fmt.Errorf("whether %s/%s has a namespace is not known: add it to the table in "+
					"scripts/release/bundle/permissions.go", group, resource)
			}
			seen[clusterWide] = true
		}
	}
	if len(seen) != 1 {
		return false, fmt.Errorf("a rule for %v in %v mixes what has a namespace and what has none: part it in two",
			resources, groups)
	}
	return seen[true], nil
}
