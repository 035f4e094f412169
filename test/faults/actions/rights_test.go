package actions

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
)

func TestAnOperatorDoesNotHaveOneRightInItsNamespace(t *testing.T) {
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"list"}},
		{APIGroups: []string{""}, Resources: []string{"pods", "services"}, Verbs: []string{"list", "watch"}},
	}
	tests := map[string]struct {
		right int
		taken string
		rest  []string
	}{
		"the first":                         {0, "list pods", []string{"watch pods", "list services", "watch services"}},
		"another one":                       {2, "list services", []string{"list pods", "watch pods", "watch services"}},
		"a number above that of the rights": {5, "watch pods", []string{"list pods", "list services", "watch services"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			of := func(rule rbacv1.PolicyRule) string { return rule.Verbs[0] + " " + rule.Resources[0] }
			rest, taken := without(rules, tc.right)
			var got []string
			for _, rule := range rest {
				got = append(got, of(rule))
			}
			if diff := cmp.Diff(tc.rest, got); diff != "" || of(taken) != tc.taken {
				t.Errorf("taken %q, want %q; the rest (-want +got):\n%s", of(taken), tc.taken, diff)
			}
		})
	}
}
