//go:build e2e

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/example-inc/memcached-operator/internal/testing/clients"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/client/clientpod"
)

// recovery is how long a client may take until it reads without errors again.
const recovery = time.Minute

// loads are programs that use a cache with client libraries of other projects. Each of them runs in a Pod.
type loads struct {
	*cache
	set    *kubernetes.Clientset
	images clientImages
	of     []clients.Client
	phases []clients.Phase
}

// startLoads starts the programs, and waits until each has stored its keys.
func (it *cache) startLoads(images clientImages, of []clients.Client) *loads {
	it.t.Helper()
	config, err := c.Cluster.RESTConfig()
	it.Expect(err).NotTo(gomega.HaveOccurred())
	set, err := kubernetes.NewForConfig(config)
	it.Expect(err).NotTo(gomega.HaveOccurred())
	l := &loads{cache: it, set: set, images: images, of: of}
	for _, client := range of {
		it.Expect(c.Client.Create(it.t.Context(), l.pod(client))).To(gomega.Succeed())
	}
	it.t.Cleanup(l.logsOfFailed)
	started := time.Now()
	for _, client := range of {
		it.Eventually(func() bool { return clients.Recovered(l.lines(client), started) }).WithTimeout(patience).
			Should(gomega.BeTrue(), "%s stores its keys", client.Name)
		if start := l.lines(client)[0]; start.Errors > 0 {
			it.t.Logf("%s: %d errors while it stored its keys: %s", client.Name, start.Errors, start.Error)
		}
	}
	return l
}

// pod returns the Pod of a client. It meets the restricted Pod Security Standard, which the namespaces of caches
// enforce.
func (l *loads) pod(client clients.Client) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: l.key.Namespace, Name: client.Name}}
	port := 11211
	if client.Secured != "" {
		port = 11212
	}
	container := corev1.Container{
		Name: "client", Image: l.images.of(client), Command: client.Command(),
		Env: []corev1.EnvVar{
			{Name: "NAME", Value: client.Name}, {Name: "CLIENT", Value: client.Use},
			{Name: "SERVERS", Value: client.Servers(l.key.Namespace, l.key.Name, 3, port)},
		},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
	pod.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, AutomountServiceAccountToken: new(false),
		TerminationGracePeriodSeconds: new(int64(0)),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
	}
	if client.Recipe != "" {
		container.Env = append(container.Env, corev1.EnvVar{Name: "RECIPE", Value: l.recipe(client)})
	}
	if client.Secured != "" {
		container.Env = append(container.Env, l.secured(client)...)
		container.VolumeMounts = []corev1.VolumeMount{{Name: "secret", MountPath: clientpod.SecretDir}}
		pod.Spec.Volumes = []corev1.Volume{{Name: "secret", VolumeSource: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: clientsSecret},
		}}}
	}
	pod.Spec.Containers = []corev1.Container{container}
	return pod
}

// recipe returns the content of the client's file in docs/recipes. The program in the Pod replaces the addresses in it.
func (l *loads) recipe(client clients.Client) string {
	l.t.Helper()
	content, err := os.ReadFile(filepath.Join(c.Root, "docs/recipes", client.Recipe))
	l.Expect(err).NotTo(gomega.HaveOccurred())
	return string(content)
}

// secured returns the environment variables that a client needs for TLS, and to log in.
func (l *loads) secured(client clients.Client) []corev1.EnvVar {
	env := []corev1.EnvVar{
		{Name: "CA", Value: clientpod.SecretDir + "/ca.crt"},
		{Name: "SERVER_NAME", Value: l.key.Name + "." + l.key.Namespace + ".svc"},
	}
	if client.Secured == clients.WithLogin {
		env = append(env, corev1.EnvVar{Name: "USERNAME", Value: "app"}, corev1.EnvVar{Name: "PASSWORD", Value: "secret"})
	}
	return env
}

// lines returns what a client has printed so far.
func (l *loads) lines(client clients.Client) []clients.Seen {
	return clients.Parse(l.log(client))
}

func (l *loads) log(client clients.Client) []byte {
	output, _ := l.set.CoreV1().Pods(l.key.Namespace).GetLogs(client.Name, &corev1.PodLogOptions{}).
		DoRaw(context.WithoutCancel(l.t.Context())) // A Pod that does not run yet has no log.
	return output
}

// phase changes the cache, and waits until all clients have recovered.
func (l *loads) phase(name string, change func()) {
	l.t.Helper()
	phase := clients.Phase{Name: name, Began: time.Now()}
	change()
	changed := time.Now()
	for _, client := range l.of {
		l.Eventually(func() bool { return clients.Recovered(l.lines(client), changed) }).WithTimeout(recovery).
			WithPolling(time.Second).Should(gomega.BeTrue(), "%s recovers from %s", client.Name, name)
	}
	phase.Ended = time.Now()
	l.phases = append(l.phases, phase)
	l.t.Logf("%s: %s, with recovery %s", name, changed.Sub(phase.Began).Round(time.Second),
		phase.Ended.Sub(phase.Began).Round(time.Second))
	for _, client := range l.of {
		l.t.Logf("%-15s %+v", client.Name, phase.Of(l.lines(client)))
	}
}

// logsOfFailed logs what a failed client printed.
func (l *loads) logsOfFailed() {
	if !l.t.Failed() {
		return
	}
	for _, client := range l.of {
		lines := strings.Split(strings.TrimSpace(string(l.log(client))), "\n")
		l.t.Logf("%s:\n%s", client.Name, strings.Join(lines[max(0, len(lines)-8):], "\n"))
	}
}

// settles waits until a change to the cache is complete.
func (it *cache) settles(size int) {
	it.t.Helper()
	it.Eventually(func(g gomega.Gomega) {
		mc := it.get()
		g.Expect(isReady(mc)).To(gomega.BeTrue())
		g.Expect(mc.Status.Slots).To(gomega.HaveLen(size))
		g.Expect(it.all()).To(gomega.HaveLen(size))
		for _, slot := range mc.Status.Slots {
			g.Expect(slot.State).NotTo(gomega.Equal(cachev1.SlotCopying))
		}
	}).WithTimeout(2 * time.Minute).Should(gomega.Succeed())
}

func (it *cache) evicts(pod string) {
	it.t.Helper()
	it.Expect(c.Client.SubResource("eviction").Create(it.t.Context(),
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: it.key.Namespace, Name: pod}}, &policyv1.Eviction{},
	)).To(gomega.Succeed())
}

// clientImages have the programs of test/clients.
type clientImages struct{ packages, golang, recipes string }

func (i clientImages) of(client clients.Client) string {
	switch client.Program {
	case clients.Go:
		return i.golang
	case clients.Recipes:
		return i.recipes
	default:
		return i.packages
	}
}

func (s *site) pushClients(t *testing.T) (images clientImages) {
	t.Helper()
	var err error
	if images.packages, err = clients.Push(t.Context(), s.Root, s.Registry+"/clients:e2e"); err != nil {
		t.Fatal(err)
	}
	images.golang = s.pushGoClient(t, clients.Go)
	if !testing.Short() {
		images.recipes = s.pushGoClient(t, clients.Recipes)
	}
	return images
}

// replaces waits until none of these Pods exists any more.
func (it *cache) replaces(before map[string]types.UID) {
	it.t.Helper()
	it.Eventually(func(g gomega.Gomega) {
		for name := range it.pods() {
			g.Expect(before).NotTo(gomega.HaveKey(name))
		}
	}).WithTimeout(2 * time.Minute).Should(gomega.Succeed())
}

// loses removes a Pod, and waits until another Pod has its slot.
func (it *cache) loses(pod string, remove func(pod string)) {
	it.t.Helper()
	remove(pod)
	it.replaces(map[string]types.UID{pod: ""})
	it.settles(3)
}

func (it *cache) forces(pod string) {
	it.t.Helper()
	it.kubectl("delete", "pod", pod, "--grace-period=0", "--force")
}

// results judges each client, and returns what it saw.
func (l *loads) results() (results []clients.Result) {
	l.t.Helper()
	for _, client := range l.of {
		lines := l.lines(client)
		result := clients.Result{Client: client, Version: lines[0].Version, Phases: map[string]clients.Seen{}}
		for _, phase := range l.phases {
			result.Phases[phase.Name] = phase.Of(lines)
		}
		for _, failure := range result.Failures() {
			l.t.Error(failure)
		}
		results = append(results, result)
	}
	return results
}
