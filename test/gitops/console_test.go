package gitops

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
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

	// Builds of the console, as the text of a kustomization.yaml next to its folder.
	withoutLogin = "resources: [console]\n"
	withAdmin    = "resources: [console, console/cluster-admin.yaml]\n"
	withIngress  = "resources: [console, oidc.yaml]\ncomponents:\n- console/ingress\n"
)

// consoleRules return the violations in a build.
var consoleRules = map[string][]func(*testing.T, resmap.ResMap) []string{
	withoutLogin: {readsOnly, byPortForwardOnly, restricted},
	withAdmin:    {readsOnly},
	withIngress:  {readsOnly, afterLoginOnly, restricted},
}

func TestTheConsoleKeepsItsRules(t *testing.T) {
	for _, build := range []string{withoutLogin, withIngress} {
		if problems := consoleProblems(t, build); len(problems) > 0 {
			t.Errorf("%s%q", build, problems)
		}
	}
}

func TestABrokenCopyOfTheConsoleIsFound(t *testing.T) {
	const (
		viewer, console = "viewer.yaml", "console.yaml"
		ingress, login  = "ingress/kustomization.yaml", "ingress/login.yaml"
		read            = "[get, list, watch]"
	)
	tests := map[string]struct{ build, file, old, new, want string }{
		"it reads Secrets":                    {withoutLogin, viewer, "- configmaps", "- secrets", "may get secrets"},
		"it reads everything":                 {withoutLogin, viewer, "[cronjobs, jobs]", `["*"]`, "may get *"},
		"it runs commands in Pods":            {withoutLogin, viewer, "pods/log", "pods/exec", "may get pods/exec"},
		"it deletes":                          {withoutLogin, viewer, read, "[delete]", "may delete configmaps"},
		"it does what it likes":               {withoutLogin, viewer, read, `["*"]`, "may * configmaps"},
		"its role is made of others":          {withoutLogin, viewer, "rules:", "aggregationRule: {}\nrules:", "made elsewhere"},
		"its role is that of another install": {withoutLogin, viewer, "viewer\nsubjects", "x\nsubjects", "made elsewhere"},
		"it may do everything":                {withAdmin, viewer, "", "", "cluster-admin is made elsewhere"},
		"each Node has a port for it":         {withoutLogin, console, "ClusterIP", "NodePort", "NodePort"},
		"other Pods reach it":                 {withoutLogin, console, "podS", "ingress: [{}]\n  podS", "Ingress:"},
		"nothing guards its Pod":              {withoutLogin, console, "policyTypes: [Ingress]", "policyTypes: []", "PolicyTypes"},
		"it may run as root":                  {withoutLogin, console, "NonRoot: true", "NonRoot: false", "RunAsNonRoot"},
		"it has capabilities":                 {withoutLogin, console, "[ALL]", "[CHOWN]", "CHOWN"},
		"its namespace takes any Pod":         {withoutLogin, console, "e: restricted", "e: baseline", "baseline"},

		"the login is off":            {withIngress, login, "value: oidc", "value: openshift", "something else answers"},
		"the login is put off":        {withIngress, login, "value: oidc", "value: disabled", "says disabled"},
		"a flag puts the login off":   {withIngress, console, "env:", "args: [--x]\n          env:", "says args"},
		"requests carry the token":    {withIngress, login, "$patch: delete", "value: x", "says BEARER_TOKEN"},
		"the viewer is there":         {withIngress, ingress, "{kind: ServiceAccount, name: okd-console-viewer}", "{kind: X}", "ServiceAccount okd-console-viewer"},
		"the viewer's token is there": {withIngress, ingress, "{kind: Secret, name: okd-console-viewer}", "{kind: X}", "Secret okd-console-viewer"},
		"a second container answers":  {withIngress, console, "containers:", "containers:\n        - {name: x, image: x}", "something else answers"},
		"an issuer is not filled in":  {withIngress, ingress, "ISSUER_URL]", "CLIENT_ID]", "says from-console-oidc"},
		"passwords go by plain HTTP":  {withIngress, login, "https://0", "http://0", "says http://0"},
		"it reaches everything":       {withIngress, ingress, "[Ingress, Egress]", "[Ingress]", "it reaches everything"},
		"the gateway reads along":     {withIngress, "ingress/istio.yaml", "PASSTHROUGH", "SIMPLE", "says mode: SIMPLE"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			problems := strings.Join(consoleProblems(t, tc.build, [3]string{tc.file, tc.old, tc.new}), "\n")
			if !strings.Contains(problems, tc.want) {
				t.Errorf("problems: %q, want one with %q", problems, tc.want)
			}
		})
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
	content, err := os.ReadFile("../../gitops/bootstrap/base/console.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(content, &project); err != nil {
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

// readsOnly holds roles to reading, but for Secrets, and bindings to the roles here.
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
			problems = append(problems, binding.RoleRef.Name+" is made elsewhere")
		}
	}
	return problems
}

// beyondReading refuses pods/exec and proxies, too: with a get they do more than read.
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

// byPortForwardOnly: as long as there is no login, nothing else leads in.
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

// afterLoginOnly: one process answers, it requests a login, and acts by the rights of that user only.
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

// restricted: the Pod Security Standard of that name is requested, and met.
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

// consoleProblems returns the problems of a build, in a copy with edits.
func consoleProblems(t *testing.T, build string, edits ...[3]string) []string {
	t.Helper()
	objects, err := buildConsole(t, build, consoleOIDC, edits...)
	if err != nil {
		t.Fatal(err)
	}
	var problems []string
	for _, rule := range consoleRules[build] {
		problems = append(problems, rule(t, objects)...)
	}
	return slices.DeleteFunc(problems, func(problem string) bool { return problem == "" })
}

// buildConsole builds in a copy of the console's folder, with each kind of ingress. An edit is a file, a piece of it, and
// what replaces that.
func buildConsole(t *testing.T, build, oidc string, edits ...[3]string) (resmap.ResMap, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "console"), os.DirFS("../../gitops/console")); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range []string{"gateway-api", "istio", "plain-ingress"} {
		edited(t, dir, "console/ingress/kustomization.yaml", "# - "+kind+".yaml", "- "+kind+".yaml")
	}
	write("kustomization.yaml", build)
	write("oidc.yaml", oidc)
	for _, edit := range edits {
		name := filepath.Join("console", edit[0])
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(content), edit[1]) {
			t.Fatalf("%s has no %q: %v", name, edit[1], err)
		}
		write(name, strings.Replace(string(content), edit[1], edit[2], 1))
	}
	return krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
}
