package gitops

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/internal/testing/tree"
	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

const (
	consoleOIDC = `apiVersion: v1
kind: ConfigMap
metadata:
  name: console-oidc
  annotations: {config.kubernetes.io/local-config: "true"}
data:
  host: console.example.com
  issuerURL: https://login.example.com
  clientID: a-client
  scopes: profile,groups
  secretName: a-secret
  clusterIssuer: an-issuer
  gateway: a-gateway
`

	// These are builds of the console, as the text of a kustomization.yaml next to its folder.
	withoutLogin = "resources: [console]\n"
	withAdmin    = "resources: [console, console/cluster-admin.yaml]\n"
	withIngress  = "resources: [console, oidc.yaml]\ncomponents:\n- console/ingress\n"
)

func TestTheConsoleKeepsItsRules(t *testing.T) {
	for build, rules := range map[string][]func(*testing.T, resmap.ResMap) []string{
		withoutLogin: {readsOnly, byPortForwardOnly, restricted},
		withIngress:  {readsOnly, afterLoginOnly, restricted},
	} {
		objects, err := buildConsole(t, build, consoleOIDC)
		if err != nil {
			t.Fatal(err)
		}
		for _, rule := range rules {
			for _, problem := range rule(t, objects) {
				if problem != "" {
					t.Errorf("%s%s", build, problem)
				}
			}
		}
	}
}

func TestTheIngressOfTheConsoleDoesNotBuildWithoutALogin(t *testing.T) {
	type attempt struct{ build, oidc, want string }
	tests := map[string]attempt{
		"console-oidc is not there":     {withoutLogin + "components: [console/ingress]", consoleOIDC, "console-oidc"},
		"console-oidc has another name": {withIngress, strings.Replace(consoleOIDC, "console-oidc", "x", 1), "console-oidc"},
		"cluster-admin comes with it":   {withAdmin + "components: [console/ingress]\n", consoleOIDC, "okd-console-cluster-admin"},
	}
	for line := range strings.Lines(strings.Split(consoleOIDC, "\ndata:\n")[1]) {
		tests["console-oidc is without "+strings.TrimSpace(line)] = attempt{withIngress, strings.Replace(consoleOIDC, line, "", 1), "console-oidc"}
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := buildConsole(t, tc.build, tc.oidc); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error: %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestTheProjectOfTheConsoleAllowsWhatItHoldsAndNoMore(t *testing.T) {
	type kind struct{ Group, Kind string }
	var project struct {
		Spec struct{ ClusterResourceWhitelist, NamespaceResourceWhitelist []kind }
	}
	content := page.Read(t, "../../gitops/bootstrap/base/console.yaml")
	if err := yaml.Unmarshal([]byte(content), &project); err != nil {
		t.Fatal(err)
	}
	held, allowed := map[kind]bool{}, map[kind]bool{}
	for _, build := range []string{withAdmin, withIngress} {
		objects, err := buildConsole(t, build, consoleOIDC)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range objects.Resources() {
			held[kind{object.GetGvk().Group, object.GetGvk().Kind}] = true
		}
	}
	for _, k := range slices.Concat(project.Spec.ClusterResourceWhitelist, project.Spec.NamespaceResourceWhitelist) {
		allowed[k] = true
	}
	if diff := cmp.Diff(held, allowed); diff != "" {
		t.Errorf("kinds (-held +allowed):\n%s", diff)
	}
}

// readsOnly checks that roles allow only reading, but no reading of Secrets, and that bindings bind only these roles.
func readsOnly(t *testing.T, objects resmap.ResMap) []string {
	var problems []string
	roles := map[string]bool{}
	for _, role := range ofKind[rbacv1.ClusterRole](t, objects) {
		roles[role.Name] = role.AggregationRule == nil
		for _, rule := range role.Rules {
			problems = append(problems, beyondReading(rule)...)
		}
	}
	for _, binding := range ofKind[rbacv1.ClusterRoleBinding](t, objects) {
		if !roles[binding.RoleRef.Name] {
			problems = append(problems, binding.RoleRef.Name+" comes from outside the console's folder")
		}
	}
	return problems
}

// beyondReading returns the rights of a rule that allow more than reading. These include pods/exec and proxies, with
// which even a get does more than read.
func beyondReading(rule rbacv1.PolicyRule) []string {
	var problems []string
	for _, resource := range rule.Resources {
		_, part, _ := strings.Cut(resource, "/")
		harmless := slices.Contains([]string{"", "icon", "log", "scale", "status"}, part) &&
			resource != "*" && resource != "secrets"
		for _, verb := range rule.Verbs {
			if !harmless || !slices.Contains([]string{"get", "list", "watch"}, verb) {
				problems = append(problems, "may "+verb+" "+resource)
			}
		}
	}
	return problems
}

// byPortForwardOnly checks that a console without login can be reached only by kubectl port-forward.
func byPortForwardOnly(t *testing.T, objects resmap.ResMap) []string {
	var problems []string
	for _, service := range ofKind[corev1.Service](t, objects) {
		problems = append(problems, cmp.Diff(corev1.ServiceTypeClusterIP, service.Spec.Type))
	}
	var policies []networkingv1.NetworkPolicySpec
	for _, policy := range ofKind[networkingv1.NetworkPolicy](t, objects) {
		policies = append(policies, policy.Spec)
	}
	none := networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{"Ingress"}}
	return append(problems, cmp.Diff([]networkingv1.NetworkPolicySpec{none}, policies))
}

// afterLoginOnly checks that only one process can be reached, that it requires a login, and that it uses only the
// rights of the user.
func afterLoginOnly(t *testing.T, objects resmap.ResMap) []string {
	var problems []string
	for _, object := range objects.Resources() {
		if object.GetKind() == "Secret" || object.GetKind() == "ServiceAccount" && object.GetName() != "okd-console" {
			problems = append(problems, object.GetKind()+" "+object.GetName()+" is still there")
		}
		if object.GetKind() == "NetworkPolicy" && !strings.Contains(object.MustYaml(), "- Egress") {
			problems = append(problems, "it reaches everything")
		}
		for _, sign := range []string{"from-console-oidc", "disabled", "BEARER_TOKEN", "http://0", "args:", "mode: SIMPLE"} {
			if strings.Contains(object.MustYaml(), sign) {
				problems = append(problems, object.GetKind()+" still says "+sign)
			}
		}
	}
	for _, deployment := range ofKind[appsv1.Deployment](t, objects) {
		containers, login := deployment.Spec.Template.Spec.Containers, corev1.EnvVar{Name: "BRIDGE_USER_AUTH", Value: "oidc"}
		if len(containers) != 1 || !slices.Contains(containers[0].Env, login) {
			problems = append(problems, "something else answers than a console with a login")
		}
	}
	return problems
}

// restricted checks that the namespace enforces the Pod Security Standard of this name, and that the Pods meet it.
func restricted(t *testing.T, objects resmap.ResMap) []string {
	var problems []string
	for _, namespace := range ofKind[corev1.Namespace](t, objects) {
		problems = append(problems, cmp.Diff("restricted", namespace.Labels["pod-security.kubernetes.io/enforce"]))
	}
	for _, deployment := range ofKind[appsv1.Deployment](t, objects) {
		pod := deployment.Spec.Template.Spec
		problems = append(problems, cmp.Diff(&corev1.PodSecurityContext{
			RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		}, pod.SecurityContext), cmp.Diff(&corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		}, pod.Containers[0].SecurityContext))
	}
	return problems
}

// buildConsole builds a kustomization next to a copy of the console's folder, in which each kind of ingress is enabled.
func buildConsole(t *testing.T, build, oidc string) (resmap.ResMap, error) {
	t.Helper()
	dir := copied(t)
	for _, kind := range []string{"gateway-api", "istio", "plain-ingress"} {
		edited(t, dir, "console/ingress/kustomization.yaml", "# - "+kind+".yaml", "- "+kind+".yaml")
	}
	tree.Write(t, dir, map[string]string{"kustomization.yaml": build, "oidc.yaml": oidc})
	return kustomize.Build(dir)
}
