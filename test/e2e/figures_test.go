//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// sample is the Memcached that the tree comes with.
const sample = "memcached-sample"

// figures are how long it took from a push, or a command, until all was applied, healthy, and in use by a client.
type figures struct {
	what                     string
	applied, healthy, serves time.Duration
}

func table(rows ...figures) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "seconds until\tSynced\tHealthy\tserving\t")
	for _, row := range rows {
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.1f\t\n",
			row.what, row.applied.Seconds(), row.healthy.Seconds(), row.serves.Seconds())
	}
	_ = w.Flush()
	return out.String()
}

// measureArgoCD times a change from its push on.
func (s *site) measureArgoCD(t *testing.T, what string, nodes int, push func() string) figures {
	t.Helper()
	began := time.Now()
	commit := push()
	serves := s.untilServing(t, began, nodes)
	f := figures{what: what}
	newGomega(t).Eventually(func() bool {
		synced, healthy := 0, 0
		for _, name := range applications {
			application, err := s.Application(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			if application.Sync == "Synced" && application.Revision == commit {
				synced++
			}
			if application.Healthy(commit) {
				healthy++
			}
		}
		if synced == len(applications) && f.applied == 0 {
			f.applied = time.Since(began)
		}
		f.healthy = time.Since(began)
		return healthy == len(applications)
	}).Should(gomega.BeTrue(), "all Applications are healthy at %.7s", commit)
	f.serves = <-serves
	return f
}

// measureDeploy times the program that applies without Argo CD.
func (s *site) measureDeploy(t *testing.T, program, what string, nodes int, folders ...string) figures {
	t.Helper()
	began := time.Now()
	serves := s.untilServing(t, began, nodes)
	f := figures{what: what}
	for _, folder := range folders {
		s.deploy(t, program, "apply", folder, "--no-wait")
	}
	f.applied = time.Since(began)
	for _, folder := range folders {
		s.deploy(t, program, "wait", folder)
	}
	f.healthy = time.Since(began)
	f.serves = <-serves
	return f
}

// untilServing starts clients until one got an answer from as many nodes as there should be. That is as exact as the
// second or so that a client's Pod takes to start.
func (s *site) untilServing(t *testing.T, began time.Time, nodes int) <-chan time.Duration {
	t.Helper()
	served := make(chan time.Duration, 1)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	go func() {
		defer cancel()
		defer close(served)
		endpoint := fmt.Sprintf("--endpoint=%s.%s.svc:11211", sample, namespace)
		for ctx.Err() == nil {
			got, err := s.RunClient(ctx, metav1.NamespaceDefault, s.images.Client, "set", endpoint)
			if err == nil && len(got.Nodes) == nodes {
				served <- time.Since(began)
				return
			}
		}
		t.Errorf("no client was served by %d nodes within %s", nodes, patience)
	}()
	return served
}

func (s *site) deploy(t *testing.T, program, verb, folder string, arguments ...string) {
	t.Helper()
	arguments = append([]string{verb, folder, "--kubeconfig", s.Cluster.Kubeconfig}, arguments...)
	if out, err := exec.CommandContext(t.Context(), program, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("deploy %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
}

// measureWithoutArgoCD installs the same objects by scripts/deploy, changes them, and takes them away again.
func (s *site) measureWithoutArgoCD(t *testing.T) (install, change figures) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "deploy")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./scripts/deploy")
	build.Dir = s.Root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := s.Publish(t.Context(), "What scripts/deploy installs", s.images); err != nil {
		t.Fatal(err)
	}
	tree := t.TempDir()
	if err := os.CopyFS(tree, os.DirFS(s.Git.Dir)); err != nil {
		t.Fatal(err)
	}
	s.commit(t, "Nothing", removeTree) // What comes next is to be a real push.
	operator := filepath.Join(tree, "gitops/operator/direct", runtime.GOARCH)
	samples := filepath.Join(tree, "gitops/samples")

	install = s.measureDeploy(t, program, "install by scripts/deploy", 3, operator, samples)
	if err := resizeSample(tree, 4); err != nil {
		t.Fatal(err)
	}
	change = s.measureDeploy(t, program, "size 3 to 4 by scripts/deploy", 4, samples)
	s.deploy(t, program, "delete", samples)
	s.deploy(t, program, "delete", operator)
	return install, change
}

// resizeSample is a change of one line.
func resizeSample(tree string, size int) error {
	path := filepath.Join(tree, "gitops/samples/kustomization.yaml")
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(content), "value: ")
	_, after, _ := strings.Cut(rest, "\n")
	if !found {
		return fmt.Errorf("%s sets no size", path)
	}
	return os.WriteFile(path, fmt.Appendf(nil, "%svalue: %d\n%s", before, size, after), 0o644)
}

// pullImages lets the node pull all images, so that whoever installs first has no disadvantage.
func (s *site) pullImages(t *testing.T) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "pull"},
		Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{
			{Name: "operator", Image: s.images.Operator, Args: []string{"--version"}},
			{Name: "agent", Image: s.images.Agent, Args: []string{"--version"}},
			{Name: "memcached", Image: s.images.Memcached, Args: []string{"-V"}},
			{Name: "client", Image: s.images.Client, Args: []string{"--help"}},
		}},
	}
	g := newGomega(t)
	g.Expect(s.Client.Create(t.Context(), pod)).To(gomega.Succeed())
	t.Cleanup(func() { _ = s.Client.Delete(context.WithoutCancel(t.Context()), pod) })
	g.Eventually(func() int {
		g.Expect(s.Client.Get(t.Context(), client.ObjectKeyFromObject(pod), pod)).To(gomega.Succeed())
		pulled := 0
		for _, status := range pod.Status.ContainerStatuses {
			if status.ImageID != "" {
				pulled++
			}
		}
		return pulled
	}).Should(gomega.Equal(len(pod.Spec.Containers)), "last seen: %v", pod.Status.ContainerStatuses)
}
