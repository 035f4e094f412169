//go:build karpenter

// Package karpenter runs Karpenter itself, with its provider of simulated Nodes, together with an operator and a cache
// with slots. No make target runs it, because building Karpenter takes minutes. Run it by:
//
//	go test -tags karpenter -v ./test/karpenter
package karpenter

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/internal/testing/nodes"
	"github.com/example-inc/memcached-operator/internal/testing/operator"
	"github.com/example-inc/memcached-operator/internal/testing/slotwatch"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/environment"
	"github.com/example-inc/memcached-operator/test/faults/plan"
)

// karpenter is the module of Karpenter, in a version that the Go version of this repository can build.
const karpenter = "sigs.k8s.io/karpenter@v1.14.1"

const repository = "../.."

// world is a cluster whose Nodes Karpenter creates. The test acts instead of the agents of Pods.
type world struct {
	*gomega.WithT
	t     *testing.T
	kube  client.WithWatch
	watch *slotwatch.Watch

	leaving map[string]time.Duration // how long the deletion of each NodeClaim took, by name
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, WithT: gomega.NewWithT(t), leaving: map[string]time.Duration{}}
	w.SetDefaultEventuallyTimeout(patience)
	w.SetDefaultEventuallyPollingInterval(time.Second)
	e, err := environment.Start(t.Context(), repository, "karpenter", plan.SimulatedNodes)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { _ = e.Stop(context.WithoutCancel(t.Context())) })
	w.kube = e.Client
	for _, name := range []string{"amd64-1", "arm64-1", "s390x-1"} { // Pods must use Karpenter's Nodes.
		w.Expect(nodes.Remove(t.Context(), w.kube, name)).To(gomega.Succeed())
	}
	w.install(e)
	w.watch, err = slotwatch.Start(t.Context(), w.kube, "default", "shop")
	w.Expect(err).NotTo(gomega.HaveOccurred())
	return w
}

// install starts an operator and Karpenter, as processes next to the API server.
func (w *world) install(e *environment.Environment) {
	w.t.Helper()
	var module struct{ Dir string }
	downloaded, err := exec.CommandContext(w.t.Context(), "go", "mod", "download", "-json", karpenter).Output()
	w.Expect(err).NotTo(gomega.HaveOccurred())
	w.Expect(json.Unmarshal(downloaded, &module)).To(gomega.Succeed())
	config, err := e.Cluster.RESTConfig()
	w.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = envtest.InstallCRDs(config, envtest.CRDInstallOptions{
		Paths: []string{filepath.Join(module.Dir, "pkg/apis/crds"), filepath.Join(module.Dir, "kwok/apis/crds")},
	})
	w.Expect(err).NotTo(gomega.HaveOccurred())
	dir := w.t.TempDir()
	manager, err := operator.Build(w.t.Context(), repository, dir)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	operator.Start(w.t, manager, e.Cluster.Kubeconfig, os.Environ())
	program, version, _ := strings.Cut(karpenter, "@")
	compiler := exec.CommandContext(w.t.Context(), "go", "install", program+"/kwok@"+version)
	compiler.Env = append(os.Environ(), "GOBIN="+dir, "CGO_ENABLED=0")
	out, err := compiler.CombinedOutput()
	w.Expect(err).NotTo(gomega.HaveOccurred(), string(out))
	kwok := exec.Command(filepath.Join(dir, "kwok"))
	kwok.Env = append(os.Environ(), "KUBECONFIG="+e.Cluster.Kubeconfig, "DISABLE_LEADER_ELECTION=true",
		"SYSTEM_NAMESPACE=default", "METRICS_PORT=0", "HEALTH_PROBE_PORT=0")
	operator.Run(w.t, kwok)
}

// apply creates the objects of files in testdata.
func (w *world) apply(files ...string) {
	w.t.Helper()
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join("testdata", file))
		w.Expect(err).NotTo(gomega.HaveOccurred())
		for document := range strings.SplitSeq(string(content), "---\n") {
			object := &unstructured.Unstructured{}
			w.Expect(yaml.Unmarshal([]byte(document), &object.Object)).To(gomega.Succeed())
			w.Expect(w.kube.Create(w.t.Context(), object)).To(gomega.Succeed())
		}
	}
}

func (w *world) delete(version, kind, namespace, name string) {
	w.t.Helper()
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(version)
	object.SetKind(kind)
	object.SetNamespace(namespace)
	object.SetName(name)
	background := client.PropagationPolicy("Background")
	w.Expect(w.kube.Delete(w.t.Context(), object, background)).To(gomega.Succeed())
}

// serves waits until each slot has a Pod that serves it.
func (w *world) serves() {
	w.t.Helper()
	w.Eventually(func() (states []cachev1.SlotState) {
		mc := &cachev1.Memcached{}
		w.Expect(w.kube.Get(w.t.Context(), client.ObjectKey{Namespace: "default", Name: "shop"}, mc)).To(gomega.Succeed())
		if !meta.IsStatusConditionTrue(mc.Status.Conditions, cachev1.ConditionReady) {
			return nil
		}
		for _, slot := range mc.Status.Slots {
			states = append(states, slot.State)
		}
		return states
	}).Should(gomega.And(gomega.HaveLen(3), gomega.HaveEach(cachev1.SlotServing)))
}

// nodeClaims returns the names of the existing NodeClaims. For each NodeClaim that is being deleted, it records the
// time since the deletion was requested.
func (w *world) nodeClaims() (names []string) {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("karpenter.sh/v1")
	list.SetKind("NodeClaimList")
	if err := w.kube.List(w.t.Context(), list); err != nil {
		return nil
	}
	for i := range list.Items {
		claim := &list.Items[i]
		names = append(names, claim.GetName())
		if deleted := claim.GetDeletionTimestamp(); deleted != nil {
			w.leaving[claim.GetName()] = time.Since(deleted.Time).Round(time.Second)
		}
	}
	slices.Sort(names)
	return names
}

// longest returns the longest time for which a NodeClaim existed after its deletion was requested.
func (w *world) longest() time.Duration {
	return slices.Max(slices.AppendSeq([]time.Duration{0}, maps.Values(w.leaving)))
}

// holders returns the Pods of the slots.
func (w *world) holders() (pods []string) {
	slice := &discoveryv1.EndpointSlice{}
	if err := w.kube.Get(w.t.Context(), client.ObjectKey{Namespace: "default", Name: "shop-slots-ipv4"}, slice); err != nil {
		return nil
	}
	for _, endpoint := range slice.Endpoints {
		pods = append(pods, endpoint.TargetRef.Name)
	}
	return pods
}
