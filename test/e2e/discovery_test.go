//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/soak"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/test/client/clientpod"
)

// serversSeen is a line that test/clients/recipes/thanos prints.
type serversSeen struct {
	At      time.Time
	Servers []string
	Error   string
}

// TestDiscoveryShowsThanosOfEachChange makes the discovery provider of Thanos follow the ready Pods, while the cache
// grows and all its Pods are replaced.
func TestDiscoveryShowsThanosOfEachChange(t *testing.T) {
	soak.Only(t, "the tests of the agent read its answers as a client does")
	c.shared(t)
	image := c.pushGoClient(t, "recipes/thanos")
	it := newCache(t, "discovered", cachev1.MemcachedSpec{
		Size: new(int32(2)), Discovery: &cachev1.Discovery{}, TerminationDelaySeconds: new(int32(5)),
	})
	it.says(cachev1.ReasonAllPodsReady, "2 of 2")
	thanos := it.watchedBy(image)
	thanos.seesReadyPods()
	it.patch(`{"size":3}`)
	it.says(cachev1.ReasonAllPodsReady, "3 of 3")
	thanos.seesReadyPods()
	it.patch(`{"threads":2}`)
	it.says(cachev1.ReasonAllPodsReady, "3 of 3")
	for _, list := range thanos.seesReadyPods() {
		if list.Error != "" {
			t.Errorf("Thanos failed: %+v", list)
		}
	}
}

// watcher is the program test/clients/recipes/thanos in a Pod.
type watcher struct {
	*cache

	clients clientpod.Clients
	pod     *corev1.Pod
}

func (it *cache) watchedBy(image string) watcher {
	it.t.Helper()
	w := watcher{
		cache:   it,
		clients: clientpod.Clients{Kube: c.Client, Config: c.Config, Namespace: it.key.Namespace, Image: image},
	}
	var err error
	if w.pod, err = w.clients.Start(it.t.Context(), "-seconds=3600", it.get().Status.DiscoveryEndpoint); err != nil {
		it.t.Fatal(err)
	}
	it.t.Cleanup(func() { _ = c.Client.Delete(context.WithoutCancel(it.t.Context()), w.pod) })
	return w
}

// seesReadyPods waits until the servers are those of the ready Pods, and returns all lists so far.
func (w watcher) seesReadyPods() (lists []serversSeen) {
	w.t.Helper()
	var ready readySince
	w.Eventually(func(g gomega.Gomega) {
		ready = w.readySince()
		text, err := w.clients.Printed(w.t.Context(), w.pod)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		lists = parseSeen(w.t, text)
		g.Expect(lists).NotTo(gomega.BeEmpty())
		g.Expect(lists[len(lists)-1].Servers).To(gomega.Equal(ready.servers))
	}).Should(gomega.Succeed())
	late := lists[len(lists)-1].At.Sub(ready.since)
	w.t.Logf("Thanos saw %d servers %s after the last of them was ready", len(ready.servers), late.Round(time.Millisecond))
	return lists
}

// readySince has the servers of the ready Pods, and the time when the last of these Pods became ready.
type readySince struct {
	servers []string
	since   time.Time
}

func (it *cache) readySince() (state readySince) {
	it.t.Helper()
	pods := &corev1.PodList{}
	it.Expect(c.Client.List(it.t.Context(), pods, client.InNamespace(it.key.Namespace),
		client.MatchingLabels{"memcached_cr": it.key.Name})).To(gomega.Succeed())
	for _, pod := range pods.Items {
		for _, condition := range pod.Status.Conditions {
			if pod.DeletionTimestamp != nil || condition.Type != corev1.PodReady || condition.Status != corev1.ConditionTrue {
				continue
			}
			state.servers = append(state.servers, pod.Status.PodIP+":11211")
			if at := condition.LastTransitionTime.Time; at.After(state.since) {
				state.since = at
			}
		}
	}
	slices.Sort(state.servers)
	return state
}

// parseSeen reads the complete lines of the output.
func parseSeen(t *testing.T, text []byte) (lists []serversSeen) {
	t.Helper()
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		list := serversSeen{}
		if err := json.Unmarshal(line, &list); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		lists = append(lists, list)
	}
	return lists
}

// pushGoClient builds the image of a program in test/clients, or in a module inside that folder.
func (s *site) pushGoClient(t *testing.T, name string) string {
	t.Helper()
	program := oci.Program{Dir: filepath.Join(s.Root, "test/clients", path.Dir(name)), Package: "./" + path.Base(name)}
	built, err := oci.BuildAll(t.Context(), oci.PlatformsOf(s.Architectures), func(string) {}, program)
	if err != nil {
		t.Fatal(err)
	}
	image, err := oci.Push(context.WithoutCancel(t.Context()), built[0], s.Registry+"/"+name+":e2e")
	if err != nil {
		t.Fatal(err)
	}
	return image
}
