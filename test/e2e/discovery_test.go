//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/test/client/clientpod"
)

// serversSeen is a line of test/clients/thanos.
type serversSeen struct {
	At      time.Time
	Servers []string
	Error   string
}

// visible is how soon a client learns of a change. A Pod says to a whole second when it became ready.
const visible = 3 * time.Second

// TestDiscoveryShowsThanosOfEachChange has Thanos' own provider follow the ready Pods while the cache grows and all of
// them are replaced.
func TestDiscoveryShowsThanosOfEachChange(t *testing.T) {
	c.shared(t)
	image := c.pushGoClient(t, "thanos")
	it := newCache(t, "discovered", cachev1.MemcachedSpec{
		Size: new(int32(2)), Discovery: &cachev1.Discovery{}, TerminationDelaySeconds: new(int32(5)),
	})
	it.says(cachev1.ReasonAllPodsReady, "2 of 2")
	clients := clientpod.Clients{Kube: c.Client, Config: c.Config, Namespace: it.key.Namespace, Image: image}
	endpoint := it.get().Status.DiscoveryEndpoint
	type output struct {
		text []byte
		err  error
	}
	watched := make(chan output, 1)
	go func() {
		text, err := clients.Output(t.Context(), func(string) {}, "-seconds=90", endpoint)
		watched <- output{text, err}
	}()
	it.untilWatched()
	var ready []readySince
	it.patch(`{"size":3}`)
	it.says(cachev1.ReasonAllPodsReady, "3 of 3")
	ready = append(ready, it.readySince())
	it.patch(`{"threads":2}`)
	it.says(cachev1.ReasonAllPodsReady, "3 of 3")
	ready = append(ready, it.readySince())

	got := <-watched
	if got.err != nil {
		t.Fatal(got.err)
	}
	lists := parseSeen(t, got.text)
	for _, state := range ready {
		i := slices.IndexFunc(lists, func(list serversSeen) bool { return slices.Equal(list.Servers, state.servers) })
		if i < 0 {
			t.Errorf("Thanos never saw %v, but %+v", state.servers, lists)
			continue
		}
		late := lists[i].At.Sub(state.since)
		t.Logf("Thanos saw %d servers %s after the last of them was ready", len(state.servers), late.Round(time.Millisecond))
		if late > visible {
			t.Errorf("Thanos saw %v only after %s", state.servers, late)
		}
	}
	for _, list := range lists {
		if list.Error != "" {
			t.Errorf("Thanos failed: %+v", list)
		}
	}
	if diff := cmp.Diff(ready[1].servers, lists[len(lists)-1].Servers); diff != "" {
		t.Errorf("the last servers (-ready +seen):\n%s", diff)
	}
}

// readySince are the servers of the ready Pods, and when the last of them became ready.
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

// untilWatched waits until the client runs.
func (it *cache) untilWatched() {
	it.t.Helper()
	it.Eventually(func() bool {
		pods := &corev1.PodList{}
		it.Expect(c.Client.List(it.t.Context(), pods, client.InNamespace(it.key.Namespace))).To(gomega.Succeed())
		return slices.ContainsFunc(pods.Items, func(pod corev1.Pod) bool {
			return pod.GenerateName == "client-" && pod.Status.Phase == corev1.PodRunning
		})
	}).Should(gomega.BeTrue())
}

func parseSeen(t *testing.T, text []byte) (lists []serversSeen) {
	t.Helper()
	for line := range bytes.Lines(text) {
		list := serversSeen{}
		if err := json.Unmarshal(line, &list); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		lists = append(lists, list)
	}
	return lists
}

// pushGoClient builds the image of a program in test/clients.
func (s *site) pushGoClient(t *testing.T, name string) string {
	t.Helper()
	program := oci.Program{Dir: filepath.Join(s.Root, "test/clients"), Package: "./" + name}
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
