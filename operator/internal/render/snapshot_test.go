package render

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

type snapshotCase struct {
	cache    func(*cachev1.MemcachedSpec)
	to       cachev1.SnapshotTarget
	platform plan.Platform
}

var snapshotCases = map[string]snapshotCase{
	"a-bucket-without-credentials": {nothing, cachev1.SnapshotTarget{URL: "s3://backups?region=eu-central-1"}, plan.Kubernetes},
	"a-secret-for-s3": {func(s *cachev1.MemcachedSpec) { tls(s); auth(s) }, cachev1.SnapshotTarget{
		URL: "s3://backups", Credentials: &cachev1.SnapshotCredentials{SecretName: "s3"},
	}, plan.Kubernetes},
	"a-secret-for-google": {nothing, cachev1.SnapshotTarget{
		URL: "gs://backups", Credentials: &cachev1.SnapshotCredentials{SecretName: "gcs"},
	}, plan.Kubernetes},
	"an-identity-of-azure": {placement, cachev1.SnapshotTarget{
		URL: "azblob://backups?prefix=caches/", Credentials: &cachev1.SnapshotCredentials{ServiceAccountName: "backup"},
	}, plan.Kubernetes},
	"a-volume": {podFields, cachev1.SnapshotTarget{PersistentVolumeClaim: &cachev1.SnapshotVolume{ClaimName: "backups"}}, plan.Kubernetes},
	"a-volume-on-openshift": {nothing, cachev1.SnapshotTarget{
		PersistentVolumeClaim: &cachev1.SnapshotVolume{ClaimName: "backups"},
	}, plan.OpenShift},
}

func (c snapshotCase) planned(t *testing.T) plan.Snapshot {
	t.Helper()
	mc := memcachedWith(c.cache)
	mc.Status.Endpoint, mc.Status.ReadyReplicas = "cache.team.svc:11211", 2
	mc.Status.Conditions = []metav1.Condition{{Type: cachev1.ConditionReady, Status: metav1.ConditionTrue, Reason: cachev1.ReasonAllPodsReady}}
	wanted := &cachev1.MemcachedSnapshot{
		ObjectMeta: metav1.ObjectMeta{
			Name: "nightly", Namespace: "team", UID: "00000000-0000-0000-0000-000000000002",
			CreationTimestamp: metav1.NewTime(time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)),
		},
		Spec: cachev1.MemcachedSnapshotSpec{MemcachedRef: cachev1.MemcachedReference{Name: "cache"}, To: c.to},
	}
	defaults := defaults
	defaults.SnapshotImage, defaults.Platform = "registry.example.com/memcached-snapshot:0.1.0", c.platform
	pods := []plan.Server{{Name: "cache-a", Address: "10.0.0.1"}, {Name: "cache-b", Address: "10.0.0.2"}}
	s, unmet := plan.ResolveSnapshot(wanted, plan.CurrentSnapshot{Memcached: mc, Pods: pods}, defaults)
	if unmet != nil {
		t.Fatal(unmet)
	}
	return s
}

// restored returns the plan of a Job that restores into a cache with slots.
func restored(t *testing.T) plan.Snapshot {
	t.Helper()
	mc := memcachedWith(func(s *cachev1.MemcachedSpec) {
		withBootstrap(s)
		s.Bootstrap.From = cachev1.BootstrapSource{Snapshot: &cachev1.BootstrapSnapshot{
			Name: "nightly-20261127T120000Z",
			SnapshotTarget: cachev1.SnapshotTarget{
				URL: "s3://backups", Credentials: &cachev1.SnapshotCredentials{SecretName: "s3"},
			},
		}}
	})
	mc.Status.Conditions = []metav1.Condition{{Type: cachev1.ConditionReady, Status: metav1.ConditionTrue, Reason: cachev1.ReasonAllPodsReady}}
	mc.Status.Slots = []cachev1.SlotStatus{{Name: "cache-0", Address: "cache-0.cache-slots.team.svc:11212"}}
	defaults := defaults
	defaults.SnapshotImage = "registry.example.com/memcached-snapshot:0.1.0"
	s, unmet := plan.ResolveRestore(mc, "", false, defaults)
	if unmet != nil {
		t.Fatal(unmet)
	}
	return s
}

// jobsOf returns all cases by their names.
func jobsOf(t *testing.T) map[string]plan.Snapshot {
	jobs := map[string]plan.Snapshot{"a-restore": restored(t)}
	for name, tc := range snapshotCases {
		jobs[name] = tc.planned(t)
	}
	return jobs
}

func TestTheJobsOfSnapshotsMatchTheirGoldenFiles(t *testing.T) {
	jobs := jobsOf(t)
	for _, name := range slices.Sorted(maps.Keys(jobs)) {
		t.Run(name, func(t *testing.T) {
			content, err := yaml.Marshal(Snapshot(jobs[name]))
			if err != nil {
				t.Fatal(err)
			}
			page.Golden(t, filepath.Join("testdata", "snapshots", name+".yaml"), string(content), *update)
		})
	}
}

func TestThePodsOfSnapshotsAreRestricted(t *testing.T) {
	for name, planned := range jobsOf(t) {
		t.Run(name, func(t *testing.T) {
			template := Snapshot(planned).Spec.Template
			pod := configuration[corev1.PodTemplateSpec](template)
			meetsTheStandard(t, *pod)
			if mounts := pod.Spec.AutomountServiceAccountToken; mounts == nil || *mounts {
				t.Error("it has a token of the API server")
			}
		})
	}
}
