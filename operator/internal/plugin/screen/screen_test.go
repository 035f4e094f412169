package screen

import (
	"bytes"
	"flag"
	"io"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/access"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/cachetest"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/overview"
)

var update = flag.Bool("update", false, "write the golden files again")

func stalled(reason, message string) metav1.Condition {
	return cachetest.Condition(cachev1.ConditionStalled, reason, message)
}

func nodes() map[string]corev1.Node {
	return map[string]corev1.Node{
		"node-a": cachetest.Node("node-a", "zone-1"), "node-b": cachetest.Node("node-b", "zone-2"),
	}
}

func healthy() access.Observed {
	return access.Observed{
		Memcached:  cachetest.Memcached("shop", cachev1.ReasonAllPodsReady, "3 of 3 Pods ready"),
		Deployment: cachetest.Deployment("shop", 3, 3), Nodes: nodes(),
		Pods: []corev1.Pod{
			cachetest.Pod("shop", "1aaaa", "node-a"), cachetest.Pod("shop", "2bbbb", "node-b"), cachetest.Pod("shop", "3cccc", "node-c"),
		},
		Events: []corev1.Event{
			cachetest.Event("Memcached", "shop", "Created", "Created Service shop", 2*time.Hour),
			cachetest.Event("Memcached", "shop", "AllPodsReady", "3 of 3 Pods ready", time.Hour),
		},
	}
}

func withSlots() access.Observed {
	o := healthy()
	const message = "1 of 3 Pods replaced; 2 of 3 slots are still to be handed over, 1 being copied"
	o.Memcached = cachetest.Memcached("shop", cachev1.ReasonHandingOver, message)
	o.Memcached.Status.ReadyReplicas = 2
	o.Memcached.Status.TLS = &cachev1.TLSStatus{NotAfter: new(cachetest.Ago(-5 * 24 * time.Hour))}
	o.Memcached.Status.Slots = []cachev1.SlotStatus{
		{Name: "shop-0", Address: "shop-0.shop-slots.team.svc:11211", Pod: o.Pods[1].Name, State: cachev1.SlotServing},
		{Name: "shop-1", Address: "shop-1.shop-slots.team.svc:11211", Pod: o.Pods[0].Name, State: cachev1.SlotCopying},
		{Name: "shop-2", Address: "shop-2.shop-slots.team.svc:11211", State: cachev1.SlotCold, Reason: "NoPod"},
	}
	o.Deployment = cachetest.Deployment("shop", 1, 2)
	return o
}

func withoutRights() access.Observed {
	const message = "spec.image \"x y\" is not an image reference"
	mc := cachetest.Memcached("shop", cachev1.ReasonInvalidSpec, message, stalled(cachev1.ReasonInvalidSpec, message),
		cachetest.Condition(cachev1.ConditionUpdatePending, cachev1.ReasonDefaultsDiffer, "image a -> b. The update would replace the Pods."))
	mc.Spec.Suspend = true
	return access.Observed{Memcached: mc, Unread: []string{"Pods", "Events"}}
}

// autoscaled returns a cache with the operator's findings about its memory.
func autoscaled() access.Observed {
	mc := cachetest.Memcached("shop", cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")
	mc.Status.Autoscaling = &cachev1.AutoscalingStatus{Memory: &cachev1.MemoryAutoscalingStatus{
		Reason: cachev1.MemoryTooSmall, Message: "Items that are not used would stay for 1h0m0s with 1536Mi, but stay for a shorter time with 1Gi",
		Recommended: new(resource.MustParse("1536Mi")),
	}, Size: &cachev1.SizeAutoscalingStatus{
		Reason: cachev1.MemoryTooSmall, Message: "Items that are not used would stay for 1h0m0s with 5 Pods, but stay for a shorter time with 3 Pods",
		Recommended: new(int32(5)),
	}}
	return access.Observed{Memcached: mc}
}

func TestTheScreenOfACacheMatchesItsGoldenFile(t *testing.T) {
	for name, observed := range map[string]access.Observed{
		"healthy": healthy(), "slots move": withSlots(), "an invalid spec without rights": withoutRights(),
		"autoscaled": autoscaled(),
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := screenOf(observed, name == "healthy")(&out, false); err != nil {
				t.Fatal(err)
			}
			page.Golden(t, "testdata/"+strings.ReplaceAll(name, " ", "-")+".txt", out.String(), *update)
		})
	}
}

// screenOf prints the screen of a cache.
func screenOf(observed access.Observed, wide bool) func(io.Writer, bool) error {
	return func(out io.Writer, colors bool) error {
		cache := overview.CacheOf(observed, cachetest.Now)
		return Screen{Writer: out, Now: cachetest.Now, Colors: colors}.Cache(cache, wide)
	}
}

func TestTheDocsShowThePicturesOfScreens(t *testing.T) {
	const status = "kubectl memcached status"
	cachetest.Picture(t, "status", status+" shop -n team -o wide", "testdata/healthy.txt", screenOf(healthy(), true), *update)
	cachetest.Picture(t, "rollout", status+" shop -n team", "testdata/slots-move.txt", screenOf(withSlots(), false), *update)
	cachetest.Picture(t, "fleet", status+" -A", "testdata/fleet.txt", func(out io.Writer, colors bool) error {
		return Screen{Writer: out, Now: cachetest.Now, Colors: colors}.Fleet(fleet(), true, false)
	}, *update)
	cachetest.Picture(t, "top", "kubectl memcached top shop -n team", "testdata/load.txt", func(out io.Writer, colors bool) error {
		return Screen{Writer: out, Colors: colors}.Loads(loads())
	}, *update)
}

// fleet has caches in four states.
func fleet() []overview.Member {
	expired := cachetest.Memcached("mail", cachev1.ReasonCertificateExpired, "expired", stalled(cachev1.ReasonCertificateExpired, "expired"))
	expired.Status.TLS = &cachev1.TLSStatus{NotAfter: new(cachetest.Ago(time.Hour))}
	caches := []cachev1.Memcached{*healthy().Memcached, *withSlots().Memcached, *withoutRights().Memcached, *expired}
	caches[0].Name, caches[2].Name = "sessions", "search"
	return overview.FleetOf(caches)
}

func TestADocumentMatchesItsGoldenFile(t *testing.T) {
	for _, format := range []string{"json", "yaml"} {
		var out bytes.Buffer
		cache := overview.CacheOf(withSlots(), cachetest.Now)
		if err := (Screen{Writer: &out, Now: cachetest.Now}).Document(format, "CacheStatus", cache); err != nil {
			t.Fatal(err)
		}
		page.Golden(t, "testdata/document."+format, out.String(), *update)
	}
}

func TestOnlyATerminalHasColors(t *testing.T) {
	var out bytes.Buffer
	if New(&out).Colors {
		t.Error("a buffer has colors")
	}
	if got := (Screen{Colors: true}).painted("Ready", Green); got != "\x1b[32mReady\x1b[0m" {
		t.Errorf("got %q", got)
	}
}
