package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// restoring is a ready cache of two slots that is filled with a snapshot.
func restoring() *cachev1.Memcached {
	mc := readyCache()
	mc.Spec.Bootstrap = &cachev1.Bootstrap{From: cachev1.BootstrapSource{Snapshot: &cachev1.BootstrapSnapshot{
		Name: "nightly", SnapshotTarget: cachev1.SnapshotTarget{
			URL: "gs://backups", Credentials: &cachev1.SnapshotCredentials{SecretName: "gcs"},
		},
	}}}
	return mc
}

func TestARestoreBeginsOnlyInACacheThatIsReady(t *testing.T) {
	for sentence, tc := range map[string]struct {
		change          func(*cachev1.Memcached)
		missing         bool
		busy            string
		reason, message string // empty: the restore begins
	}{
		"a ready cache": {func(*cachev1.Memcached) {}, false, "", "", ""},
		"no size": {func(mc *cachev1.Memcached) { mc.Status.Conditions[0].Reason = cachev1.ReasonScaledToZero }, false, "",
			cachev1.ReasonMemcachedNotReady, `The Memcached "cache" is not ready: its size is 0, and it has no keys`},
		"a rollout": {func(mc *cachev1.Memcached) {
			mc.Status.Conditions[0].Status, mc.Status.Conditions[0].Reason = metav1.ConditionFalse, cachev1.ReasonHandingOver
		}, false, "", cachev1.ReasonMemcachedNotReady, `The Memcached "cache" is not ready: its condition Ready has the reason HandingOver`},
		"a cache whose spec is not applied": {func(mc *cachev1.Memcached) { mc.Spec.Suspend = true }, false, "",
			cachev1.ReasonMemcachedNotReady, `The Memcached "cache" is not ready: spec.suspend is true`},
		"Pods that have no slots until the next rollout": {func(mc *cachev1.Memcached) { mc.Status.Slots = nil }, false, "",
			cachev1.ReasonMemcachedNotReady, `The Memcached "cache" is not ready: it reports no slots yet`},
		"a save": {func(*cachev1.Memcached) {}, false, "nightly",
			cachev1.ReasonMemcachedNotReady, `The Memcached "cache" is not ready: Job "nightly" saves it now`},
		"no Secret": {func(*cachev1.Memcached) {}, true, "", cachev1.ReasonSecretNotFound,
			`spec.bootstrap.from.snapshot.credentials.secretName "gcs" does not exist: create the Secret in namespace "team"`},
	} {
		t.Run(sentence, func(t *testing.T) {
			mc := restoring()
			tc.change(mc)
			_, unmet := ResolveRestore(mc, tc.busy, tc.missing, withSlots())
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

func TestARestoreIsThatOfTheSpec(t *testing.T) {
	mc := restoring()
	mc.Spec.Slots.ClientHash = cachev1.HashKetama
	mc.Spec.Slots.Handoff = &cachev1.Handoff{BytesPerSecond: new(resource.MustParse("1Mi"))}
	s, _ := ResolveRestore(mc, "", false, withSlots())
	if s.Job != "cache-restore" || s.SnapshotName != "nightly" || s.Hash != "Ketama" || s.Rate != 1<<20 || !s.Restores || len(s.Servers) != 2 {
		t.Errorf("got %+v", s)
	}
	if s.Source != SourceOf(mc) || !strings.Contains(s.Source, "gs://backups") {
		t.Errorf("the source is %s", s.Source)
	}
	mc.Spec.Slots.ClientHash = cachev1.HashRendezvous
	if s.Source == SourceOf(mc) {
		t.Error("another hash is the same source")
	}
	if IsRestored(mc) {
		t.Error("it is restored before")
	}
	mc.Status.RestoredSnapshot = "nightly"
	if !IsRestored(mc) {
		t.Error("it is not restored after that")
	}
}

func TestARestoreThatCannotBeIsRefused(t *testing.T) {
	for sentence, tc := range map[string]struct {
		change func(*cachev1.Memcached)
		want   string
	}{
		"no slots":    {func(mc *cachev1.Memcached) { mc.Spec.Slots = nil }, "spec.bootstrap.from.snapshot needs spec.slots"},
		"a long name": {func(mc *cachev1.Memcached) { mc.Name = strings.Repeat("a", 56) }, "aaa-restore"},
		"no hash":     {func(*cachev1.Memcached) {}, "<nil>"},
	} {
		t.Run(sentence, func(t *testing.T) {
			mc := restoring()
			tc.change(mc)
			if _, err := computed(mc, nothing, withSlots()); !strings.Contains(fmt.Sprint(err), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
