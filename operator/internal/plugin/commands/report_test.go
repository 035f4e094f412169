package commands

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/access"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/cachetest"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/cause"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/load"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/overview"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/reach"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/report"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/screen"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/slabs"
)

func TestAReportHasTheLogOfMemcachedUnlessItHasKeys(t *testing.T) {
	for argument, want := range map[string]bool{"--disable-cas": true, "-vv": false, "--verbose": false} {
		mc := cachetest.Memcached("shop", cachev1.ReasonPodsNotReady, "")
		mc.Spec.ExtraArgs = []string{argument}
		pod := cachetest.Crashing(cachetest.Pod("shop", "1aaaa", "node-a"), 1)
		e := cause.Evidence{Observed: access.Observed{Memcached: mc, Pods: []corev1.Pod{pod}}}
		e.Log = "<30 get user:4711\n"
		b := &builder{now: cachetest.Now}
		b.addCauses(e)
		text := b.page.Sections[0].Text
		if got := strings.Contains(text, "user:4711"); got != want || got == strings.Contains(text, "not read: left out") {
			t.Errorf("with %s:\n%s", argument, text)
		}
	}
}

// TestAReportOfAnIncidentMatchesItsGoldenFile has all parts of a report. test/site opens the file in a browser.
func TestAReportOfAnIncidentMatchesItsGoldenFile(t *testing.T) {
	b := &builder{now: cachetest.Now}
	e := incident()
	b.page = report.Report{
		Namespace: "team", Name: "shop", Summary: overview.SummaryOf(e.Memcached), Taken: b.now, Version: "0.2.0",
		Unread: []string{"You have no right to read: Nodes"},
	}
	b.addCauses(e)
	b.addStatus(e.Observed)
	servers := []reach.Server{{Slot: "shop-0", Pod: e.Pods[0].Name}, {Slot: "shop-1", Pod: e.Pods[1].Name}, {Pod: e.Pods[2].Name}}
	b.addLoads([]screen.Load{
		{Server: servers[0], Load: load.Load{
			Used: 63 << 20, Limit: 64 << 20, Items: 612345, Connections: 212, HitRatio: new(0.9134), TotalHitRatio: new(0.955),
			Requests: new(12034.4), Evictions: new(312.), EvictedAge: new(int64(5400)),
		}},
		{Server: servers[1], Load: load.Load{Limit: 64 << 20, Connections: 2}},
		{Server: servers[2], Error: "dial tcp 10.0.0.3:11212: connect: connection refused"},
	})
	b.addSlabs([]screen.Slabs{{Server: servers[0], Classes: []slabs.Class{
		{Number: 1, ChunkSize: 96, Pages: 1, Chunks: 10922, Used: 100, Items: 100, Requested: 7300, Age: 3600},
		{
			Number: 10, ChunkSize: 752, Pages: 62, Chunks: 86428, Used: 86428, Items: 86420, Requested: 62 << 20, Age: 90,
			Evicted: 12345, EvictedAge: 95,
		},
	}}})
	if err := b.addRest(e.Observed); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := b.page.Write(&out); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "user:4711") {
		t.Error("the page has a key of the log")
	}
	page.Golden(t, "testdata/report.html", out.String(), *update)
}

// incident is a cache with TLS and login whose last Pod fails, and whose message has a word that is wider than the
// screen of a phone. Its memcached logs keys.
func incident() cause.Evidence {
	image := "registry.example.com/mirrors/docker.io/library/memcached@sha256:" + strings.Repeat("5d9c7b6f", 8)
	crashed := fmt.Sprintf("2 of 3 Pods ready; 1 Pod: container \"memcached\" of the image %s exited with code 64", image)
	mc := cachetest.Memcached("shop", cachev1.ReasonPodsNotReady, crashed)
	mc.Spec.ExtraArgs, mc.Spec.Image = []string{"-vv"}, image
	mc.Spec.TLS, mc.Spec.Auth = &cachev1.TLS{SecretName: "shop-cert"}, &cachev1.Auth{SecretName: "shop-users"}
	mc.Status.TLS = &cachev1.TLSStatus{NotAfter: new(cachetest.Ago(-5 * 24 * time.Hour))}
	e := cause.Evidence{Observed: access.Observed{
		Memcached: mc, Deployment: cachetest.Deployment("shop", 2, 2),
		Pods: []corev1.Pod{
			cachetest.Pod("shop", "1aaaa", "node-a"), cachetest.Pod("shop", "2bbbb", "node-b"),
			cachetest.Crashing(cachetest.Pod("shop", "3cccc", "node-c"), 64),
		},
		Events: []corev1.Event{cachetest.Event("Memcached", "shop", "PodsNotReady", crashed, 4*time.Minute)},
	}}
	for number, pod := range e.Pods[:2] {
		name := fmt.Sprint("shop-", number)
		mc.Status.Slots = append(mc.Status.Slots, cachev1.SlotStatus{
			Name: name, Address: name + ".shop-slots.team.svc:11212", Pod: pod.Name, State: cachev1.SlotServing,
		})
	}
	mc.Status.Slots = append(mc.Status.Slots, cachev1.SlotStatus{Name: "shop-2", State: cachev1.SlotCold, Reason: "NoPod"})
	e.Log = "<30 get user:4711\n"
	return e
}
