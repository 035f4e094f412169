package check

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/scripts/demo/demotest"
	"github.com/example-inc/memcached-operator/scripts/demo/target"
)

// allow gives a user rights in the whole cluster.
func allow(t *testing.T, user string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	allowAll(t, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}, rules...)
}

func allowAll(t *testing.T, subject rbacv1.Subject, rules ...rbacv1.PolicyRule) {
	t.Helper()
	create(t,
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: subject.Name}, Rules: rules},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: subject.Name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: subject.Name},
			Subjects:   []rbacv1.Subject{subject},
		})
}

func rule(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

func TestYourRights(t *testing.T) {
	defineArgoCD(t)
	namespace(t, "argocd")
	create(t, demotest.ArgoCDSettings("argocd", nil))
	enough := []rbacv1.PolicyRule{
		rule("argoproj.io", "applications", "get", "list", "create", "patch"),
		rule("argoproj.io", "appprojects", "create", "patch"),
		rule("", "configmaps", "get", "create", "patch"),
		rule("", "pods", "get", "create", "delete"),
		rule("", "pods/log", "get"),
		rule("cache.example.com", "memcacheds", "get"),
	}
	tests := map[string]struct {
		rules  []rbacv1.PolicyRule
		status Status
		words  []string
	}{
		"are enough":             {enough, Passed, []string{"all "}},
		"lack that to read logs": {append(enough[:4:4], enough[5:]...), Failed, []string{"you may not get pods/log in memcached-samples"}},
		"lack that to make AppProjects": {append(enough[:1:1], enough[2:]...), Failed,
			[]string{"create appprojects.argoproj.io in argocd", "patch appprojects.argoproj.io in argocd", "administrator"}},
		"are none": {nil, Failed, []string{"get pods/log in memcached-samples", "patch configmaps in argocd"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			allow(t, "somebody", tc.rules...)
			s := subjectOf(t, target.Direct, "somebody")
			s.ArgoCDNamespace = "argocd"
			settings(t.Context(), s)
			application(t.Context(), s)
			expect(t, rights(t.Context(), s), tc.status, tc.words...)
		})
	}
}

func TestArgoCDsRights(t *testing.T) {
	defineArgoCD(t)
	const account = "system:serviceaccount:argocd:argocd-application-controller"
	enough := []rbacv1.PolicyRule{
		rule("", "namespaces", "create"), rule("apiextensions.k8s.io", "customresourcedefinitions", "create"),
		rule("rbac.authorization.k8s.io", "clusterroles", "create"),
		rule("rbac.authorization.k8s.io", "clusterrolebindings", "create"),
	}
	tests := map[string]struct {
		account string
		way     target.Way
		rules   []rbacv1.PolicyRule
		status  Status
		words   []string
	}{
		"can't be seen from a cluster it does not run in": {"", target.Direct, nil, Skipped, []string{"not in this cluster"}},
		"are enough":                          {account, target.Direct, enough, Passed, []string{account}},
		"are enough for less":                 {account, target.OpenShift, enough[:1], Passed, nil},
		"lack what is outside of namespaces":  {account, target.Direct, enough[:1], Failed, []string{"create customresourcedefinitions.apiextensions.k8s.io, create clusterroles.rbac.authorization.k8s.io", "ARGOCD_CLUSTER_CONFIG_NAMESPACES"}},
		"lack it although others have it all": {"system:serviceaccount:argocd:other", target.Direct, enough, Failed, []string{"create namespaces"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			allow(t, account, tc.rules...)
			s := subject(t, tc.way)
			s.ArgoCDNamespace, s.ControllerAccount = "argocd", tc.account
			expect(t, argoRights(t.Context(), s), tc.status, tc.words...)
		})
	}
	t.Run("may come from its group", func(t *testing.T) {
		allowAll(t, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "system:serviceaccounts:argocd"}, enough...)
		s := subject(t, target.Direct)
		s.ArgoCDNamespace, s.ControllerAccount = "argocd", account
		expect(t, argoRights(t.Context(), s), Passed)
	})
	t.Run("can't be asked for by everybody", func(t *testing.T) {
		s := subjectOf(t, target.Direct, "guest")
		s.ArgoCDNamespace, s.ControllerAccount = "argocd", account
		expect(t, argoRights(t.Context(), s), Warning, "forbidden", account+" must be able to make")
	})
}
