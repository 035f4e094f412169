//go:build e2e

package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// TestThePluginReachesServersWithTheRolesOfTheDocs connects by port-forward, with TLS and login, as a user with the two
// Roles of docs/kubectl-memcached.md in one namespace.
func TestThePluginReachesServersWithTheRolesOfTheDocs(t *testing.T) {
	c.shared(t)
	it := newSlots(t, "plugin", cachev1.MemcachedSpec{
		Image: newMemcached(t), Size: new(int32(3)), Slots: &cachev1.Slots{}, TerminationDelaySeconds: new(int32(1)),
		TLS: &cachev1.TLS{SecretName: serverSecret}, Auth: &cachev1.Auth{SecretName: usersSecret},
	})
	plugin := it.newPlugin()
	out, err := plugin("top", "plugin")
	it.Expect(err).To(gomega.HaveOccurred())
	it.Expect(out).To(gomega.ContainSubstring("is forbidden"), "the user has no right yet")

	it.grantsRoleOfTheDocs("ClusterRole")
	it.Eventually(func() string { out, _ := plugin("top", "plugin"); return out }).
		Should(gomega.ContainSubstring("you have no right to get Secret plugin/server"))
	it.grantsRoleOfTheDocs("Role")
	it.Eventually(func() error { _, err := plugin("top", "plugin"); return err }).Should(gomega.Succeed())
	out, _ = plugin("top", "plugin")
	for _, slot := range it.get().Status.Slots {
		it.Expect(out).To(gomega.MatchRegexp(slot.Name + ` +` + slot.Pod + ` +64Mi`))
	}

	it.lets("set", trusting+login+"password") // 50 keys
	out, err = plugin("get", "key-7", "--value")
	it.Expect(err).NotTo(gomega.HaveOccurred())
	it.Expect(out).To(gomega.MatchRegexp(`plugin-\d +\S+ +yes +14 `))
	it.Expect(out).To(gomega.ContainSubstring(`"value of key 7"`))
	out, err = plugin("flush", "plugin", "--yes")
	it.Expect(err).NotTo(gomega.HaveOccurred())
	it.Expect(strings.Count(out, " flushed\n")).To(gomega.Equal(3))
	out, err = plugin("get", "key-7")
	it.Expect(err).NotTo(gomega.HaveOccurred())
	it.Expect(out).NotTo(gomega.ContainSubstring("yes"))
}

// pluginUser is the Kubernetes user as whom the plugin runs.
const pluginUser = "user-of-the-plugin"

// newPlugin builds the plugin, and returns a function that runs it as pluginUser, who has no rights yet.
func (it *cache) newPlugin() func(arguments ...string) (string, error) {
	it.t.Helper()
	program := filepath.Join(it.t.TempDir(), "kubectl-memcached")
	build := exec.CommandContext(it.t.Context(), "go", "build", "-o", program, "./operator/cmd/kubectl-memcached")
	build.Dir = c.Root
	out, err := build.CombinedOutput()
	it.Expect(err).NotTo(gomega.HaveOccurred(), "%s", out)
	return func(arguments ...string) (string, error) {
		arguments = append(arguments, "--kubeconfig", c.Cluster.Kubeconfig, "--as", pluginUser, "-n", it.key.Namespace)
		out, err := exec.CommandContext(it.t.Context(), program, arguments...).CombinedOutput()
		it.t.Logf("$ kubectl memcached %s\n%s", strings.Join(arguments[:2], " "), out)
		return string(out), err
	}
}

// grantsRoleOfTheDocs gives the user a Role of docs/kubectl-memcached.md in the namespace of the cache.
func (it *cache) grantsRoleOfTheDocs(kind string) {
	it.t.Helper()
	docs := page.Read(it.t, c.Root+"/docs/kubectl-memcached.md")
	manifest := page.Find(it.t, docs, "(?s)```yaml\n(apiVersion: rbac[^`]*kind: "+kind+"\n.*?)```")
	role := map[string]client.Object{"Role": &rbacv1.Role{}, "ClusterRole": &rbacv1.ClusterRole{}}[kind]
	it.Expect(yaml.UnmarshalStrict([]byte(manifest), role)).To(gomega.Succeed())
	if kind == "Role" {
		role.SetNamespace(it.key.Namespace)
	}
	it.Expect(client.IgnoreAlreadyExists(c.Client.Create(it.t.Context(), role))).To(gomega.Succeed()) // another test's
	it.Expect(c.Client.Create(it.t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: it.key.Namespace, Name: role.GetName()},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: role.GetName()},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: pluginUser}},
	})).To(gomega.Succeed())
}
