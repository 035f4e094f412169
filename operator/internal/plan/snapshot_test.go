package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func wantedSnapshot() *cachev1.MemcachedSnapshot {
	return &cachev1.MemcachedSnapshot{
		ObjectMeta: metav1.ObjectMeta{
			Name: "nightly", Namespace: "team", UID: "1a2b3c4d-0000-4000-8000-000000000000",
			CreationTimestamp: metav1.NewTime(time.Date(2026, 11, 27, 13, 0, 0, 0, time.FixedZone("CET", 3600))),
		},
		Spec: cachev1.MemcachedSnapshotSpec{
			MemcachedRef: cachev1.MemcachedReference{Name: "cache"},
			To: cachev1.SnapshotTarget{
				URL: "gs://backups", Credentials: &cachev1.SnapshotCredentials{SecretName: "gcs"},
			},
		},
	}
}

// readyCache is a cache of two slots whose status says that it is ready.
func readyCache() *cachev1.Memcached {
	return cacheWithSlots(func(mc *cachev1.Memcached) {
		mc.Generation, mc.Status.ObservedGeneration = 3, 3
		mc.Status.Conditions = []metav1.Condition{
			{Type: cachev1.ConditionReady, Status: metav1.ConditionTrue, Reason: cachev1.ReasonAllPodsReady},
		}
		mc.Status.ReadyReplicas, mc.Status.Endpoint = 2, "cache.team.svc:11211"
		mc.Status.Slots = []cachev1.SlotStatus{
			{Name: "cache-0", Address: "cache-0.cache-slots.team.svc:11211"},
			{Name: "cache-1", Address: "cache-1.cache-slots.team.svc:11211"},
		}
	})
}

func TestASnapshotBeginsOnlyOfACacheThatIsReady(t *testing.T) {
	ready := func(mc *cachev1.Memcached) *metav1.Condition { return &mc.Status.Conditions[0] }
	for sentence, tc := range map[string]struct {
		change          func(*CurrentSnapshot)
		reason, message string // empty: the save begins
	}{
		"a ready cache":  {func(*CurrentSnapshot) {}, "", ""},
		"no cache":       {func(c *CurrentSnapshot) { c.Memcached = nil }, cachev1.ReasonMemcachedNotFound, `spec.memcachedRef.name "cache" does not exist: create the Memcached in namespace "team"`},
		"a new cache":    {func(c *CurrentSnapshot) { c.Memcached.Status.Conditions = nil }, cachev1.ReasonMemcachedNotReady, `The Memcached "cache" is not ready: the operator has not reported its state yet`},
		"a changed spec": {func(c *CurrentSnapshot) { c.Memcached.Generation++ }, cachev1.ReasonMemcachedNotReady, `The Memcached "cache" is not ready: the operator has not reported its state yet`},
		"no size": {func(c *CurrentSnapshot) { ready(c.Memcached).Reason = cachev1.ReasonScaledToZero },
			cachev1.ReasonMemcachedNotReady, `The Memcached "cache" is not ready: its size is 0, and it has no keys`},
		"a rollout": {func(c *CurrentSnapshot) {
			ready(c.Memcached).Status, ready(c.Memcached).Reason = metav1.ConditionFalse, cachev1.ReasonHandingOver
		}, cachev1.ReasonMemcachedNotReady, `The Memcached "cache" is not ready: its condition Ready has the reason HandingOver`},
		"Pods without slots that have just gone": {func(c *CurrentSnapshot) {
			c.Memcached.Status.Slots, c.Pods = nil, []Server{{"cache-a", "10.0.0.1"}}
		}, cachev1.ReasonMemcachedNotReady, `The Memcached "cache" is not ready: 1 of its 2 Pods are ready`},
		"another Job of the cache": {func(c *CurrentSnapshot) { c.Busy = "weekly" }, cachev1.ReasonMemcachedNotReady, `The Memcached "cache" is not ready: Job "weekly" saves or restores it now`},
		"no Secret":                {func(c *CurrentSnapshot) { c.MissingSecret = true }, cachev1.ReasonSecretNotFound, `spec.to.credentials.secretName "gcs" does not exist: create the Secret in namespace "team"`},
	} {
		t.Run(sentence, func(t *testing.T) {
			current := CurrentSnapshot{Memcached: readyCache()}
			tc.change(&current)
			_, unmet := ResolveSnapshot(wantedSnapshot(), current, withSlots())
			var want *Unmet
			if tc.reason != "" {
				want = &Unmet{tc.reason, tc.message}
			}
			if diff := cmp.Diff(want, unmet); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheServersOfASnapshot(t *testing.T) {
	pods := []Server{{"cache-a", "10.0.0.1"}, {"cache-b", "fd00::1"}}
	for sentence, tc := range map[string]struct {
		change     func(*cachev1.Memcached)
		servers    []Server
		serverName string
	}{
		"slots, by their names": {func(*cachev1.Memcached) {}, []Server{
			{"cache-0", "cache-0.cache-slots.team.svc:11211"}, {"cache-1", "cache-1.cache-slots.team.svc:11211"},
		}, ""},
		"Pods, by their addresses": {func(mc *cachev1.Memcached) { mc.Status.Slots = nil }, []Server{
			{"cache-a", "10.0.0.1:11211"}, {"cache-b", "[fd00::1]:11211"},
		}, ""},
		"Pods with TLS, by the name of the Service": {func(mc *cachev1.Memcached) {
			mc.Status.Slots, mc.Status.Endpoint = nil, "cache.team.svc:11212"
			mc.Spec.TLS = &cachev1.TLS{SecretName: "tls"}
		}, []Server{{"cache-a", "10.0.0.1:11212"}, {"cache-b", "[fd00::1]:11212"}}, "cache.team.svc"},
	} {
		t.Run(sentence, func(t *testing.T) {
			mc := readyCache()
			tc.change(mc)
			s, unmet := ResolveSnapshot(wantedSnapshot(), CurrentSnapshot{Memcached: mc, Pods: pods}, withSlots())
			if unmet != nil {
				t.Fatal(unmet)
			}
			if diff := cmp.Diff(tc.servers, s.Servers); diff != "" || s.ServerName != tc.serverName {
				t.Errorf("server name %q (-want +got):\n%s", s.ServerName, diff)
			}
		})
	}
}

func TestASnapshotHasDefaultsAndANameOfItsOwn(t *testing.T) {
	wanted, mc := wantedSnapshot(), readyCache()
	s, _ := ResolveSnapshot(wanted, CurrentSnapshot{Memcached: mc}, withSlots())
	if s.SnapshotName != "nightly-20261127T120000Z-1a2b3c4d" || s.Rate != 16<<20 || s.Memory.String() != "134Mi" || s.Keys.String() != "64Mi" {
		t.Errorf("got %q, %d bytes a second, %s", s.SnapshotName, s.Rate, &s.Memory)
	}
	wanted.Spec.BytesPerSecond, mc.Spec.MaxItemSize = new(resource.MustParse("1Mi")), new(resource.MustParse("64Mi"))
	s, _ = ResolveSnapshot(wanted, CurrentSnapshot{Memcached: mc}, withSlots())
	if s.Rate != 1<<20 || s.Memory.String() != "512Mi" {
		t.Errorf("got %d bytes a second, %s", s.Rate, &s.Memory)
	}
}

func TestTheServersOfACacheAreThoseOfAJobUntilItIsScaled(t *testing.T) {
	mc := readyCache()
	s, _ := ResolveSnapshot(wantedSnapshot(), CurrentSnapshot{Memcached: mc}, withSlots())
	if s.Names() != ServerNames(mc) || s.Names() != "cache-0 cache-1" {
		t.Errorf("%q, and the cache has %q", s.Names(), ServerNames(mc))
	}
	mc.Status.Slots = append(mc.Status.Slots, cachev1.SlotStatus{Name: "cache-2"})
	if s.Names() == ServerNames(mc) {
		t.Error("a new slot changes nothing")
	}
	mc.Status.Slots, mc.Status.Nodes = nil, []string{"cache-b", "cache-a"}
	if got := ServerNames(mc); got != "cache-a cache-b" {
		t.Errorf("without slots: %q", got)
	}
}

// TestSnapshotsOfTwoNamespacesHaveTwoNames, even those of objects that one command creates in the same second: both
// namespaces may use the same bucket.
func TestSnapshotsOfTwoNamespacesHaveTwoNames(t *testing.T) {
	one, two := wantedSnapshot(), wantedSnapshot()
	two.UID, two.Namespace = "5a6b7c8d-0000-4000-8000-000000000002", "other"
	if SnapshotName(one) == SnapshotName(two) {
		t.Errorf("both are saved as %q", SnapshotName(one))
	}
}
