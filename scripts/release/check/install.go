package check

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

var installModes = []string{"OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"}

// installRules are for what OLM makes.
var installRules = []rule[*view]{
	{"each install mode is there once, and supported", modes},
	{"a conversion webhook serves all namespaces alone", func(v *view) (broken messages) {
		for _, webhook := range v.csv.Spec.WebhookDefinitions {
			for _, mode := range v.csv.Spec.InstallModes {
				broken.when(webhook.Type == "ConversionWebhook" && mode.Supported && mode.Type != "AllNamespaces",
					"there is a conversion webhook, and %s is supported", mode.Type)
			}
		}
		return broken
	}},
	{"there is something to install", deployments},
	{"the manager asks for resources", func(v *view) (broken messages) {
		for _, c := range v.containers() {
			missing := c.Resources.Requests.Cpu().IsZero() || c.Resources.Requests.Memory().IsZero()
			broken.when(missing, "container %s requests no CPU or no memory", c.Name)
		}
		return broken
	}},
	{"the namespaces to serve come from OLM", watchNamespace},
	{"permissions are of the operator's account", accounts},
	{"permissions hold where they are needed, and no further", scopes},
	{"the operator makes no CustomResourceDefinitions", func(v *view) (broken messages) {
		s := v.csv.Spec.Install.Spec
		for _, p := range slices.Concat(s.Permissions, s.ClusterPermissions) {
			for _, r := range p.Rules {
				writes := slices.ContainsFunc(r.Verbs, func(verb string) bool {
					return slices.Contains([]string{"*", "create", "patch", "update", "delete"}, verb)
				})
				broken.when(writes && slices.Contains(r.Resources, "customresourcedefinitions"),
					"%v on customresourcedefinitions", r.Verbs)
			}
		}
		return broken
	}},
	{"the labels tell the platforms that the manager may run on", platforms},
}

func modes(v *view) (broken messages) {
	count := map[string]int{}
	for _, mode := range v.csv.Spec.InstallModes {
		count[mode.Type]++
		broken.when(!mode.Supported, "%s is not supported", mode.Type)
		broken.when(!slices.Contains(installModes, mode.Type), "%q is no install mode", mode.Type)
	}
	for _, mode := range installModes {
		broken.when(count[mode] != 1, "%s is there %d times", mode, count[mode])
	}
	return broken
}

func deployments(v *view) messages {
	install := v.csv.Spec.Install
	broken := slices.Concat(
		one(install.Strategy != "deployment", "spec.install.strategy is %q, want deployment", install.Strategy),
		one(len(install.Spec.Deployments) == 0, "spec.install.spec.deployments is empty"),
	)
	seen := map[string]bool{}
	for _, d := range install.Spec.Deployments {
		broken.when(seen[d.Name], "deployment %s is there twice", d.Name)
		broken.when(!isName(d.Name), "deployment %q can't be named so", d.Name)
		seen[d.Name] = true
		isManager := func(c corev1.Container) bool { return c.Name == "manager" }
		named := slices.ContainsFunc(d.Spec.Template.Spec.Containers, isManager)
		broken.when(!named, "deployment %s has no container manager", d.Name)
	}
	return broken
}

func watchNamespace(v *view) (broken messages) {
	for _, c := range v.containers() {
		found := slices.ContainsFunc(c.Env, func(variable corev1.EnvVar) bool {
			return variable.Name == "WATCH_NAMESPACE" && variable.ValueFrom != nil && variable.ValueFrom.FieldRef != nil &&
				variable.ValueFrom.FieldRef.FieldPath == "metadata.annotations['olm.targetNamespaces']"
		})
		broken.when(!found, "container %s has no WATCH_NAMESPACE from olm.targetNamespaces", c.Name)
	}
	return broken
}

func accounts(v *view) (broken messages) {
	s := v.csv.Spec.Install.Spec
	for _, d := range s.Deployments {
		account := d.Spec.Template.Spec.ServiceAccountName
		for _, p := range slices.Concat(s.Permissions, s.ClusterPermissions) {
			broken.when(p.ServiceAccountName != account,
				"permissions are for %q, deployment %s runs as %q", p.ServiceAccountName, d.Name, account)
		}
	}
	broken.when(len(s.Permissions) == 0, "spec.install.spec.permissions is empty")
	return broken
}

func scopes(v *view) (broken messages) {
	s := v.csv.Spec.Install.Spec
	lists := map[string][]permission{"permissions": s.Permissions, "clusterPermissions": s.ClusterPermissions}
	for field, list := range lists {
		for _, p := range list {
			for _, r := range p.Rules {
				clusterWide, err := bundle.IsClusterScoped(r.APIGroups, r.Resources, r.NonResourceURLs)
				if err != nil {
					broken = append(broken, field+": "+err.Error())
					continue
				}
				broken.when(clusterWide != (field == "clusterPermissions"),
					"%s: %v belongs into the other list", field, append(r.Resources, r.NonResourceURLs...))
			}
		}
	}
	slices.Sort(broken)
	return broken
}

func platforms(v *view) (broken messages) {
	told := map[string][]string{}
	for _, label := range slices.Sorted(maps.Keys(v.csv.Metadata.Labels)) {
		for _, kind := range []string{"arch", "os"} {
			if value, found := strings.CutPrefix(label, "operatorframework.io/"+kind+"."); found &&
				v.csv.Metadata.Labels[label] == "supported" {
				told[kind] = append(told[kind], value)
			}
		}
	}
	for _, d := range v.csv.Spec.Install.Spec.Deployments {
		for kind, values := range told {
			got := required(d.Spec.Template.Spec.Affinity, "kubernetes.io/"+kind)
			broken.when(!slices.Equal(values, got),
				"labels tell of %s %v, the node affinity of deployment %s of %v", kind, values, d.Name, got)
		}
	}
	slices.Sort(broken)
	broken.when(len(told["arch"]) == 0 || len(told["os"]) == 0, "the label of an architecture or a system is missing")
	return broken
}

// required are the values of a node's label that an affinity asks for, sorted.
func required(affinity *corev1.Affinity, key string) (values []string) {
	if affinity == nil || affinity.NodeAffinity == nil ||
		affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	for _, term := range affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, expression := range term.MatchExpressions {
			if expression.Key == key && expression.Operator == corev1.NodeSelectorOpIn {
				values = append(values, expression.Values...)
			}
		}
	}
	slices.Sort(values)
	return values
}
