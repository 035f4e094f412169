package argo

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const application = `
metadata: {deletionTimestamp: "2026-01-01T00:00:00Z"}
spec:
  source: {repoURL: https://git.example.org/x.git, targetRevision: main, path: gitops/apps/overlays/olm}
status:
  sync: {status: OutOfSync, revision: abc}
  health: {status: Progressing}
  conditions:
    - {type: ComparisonError, message: Failed to load target state}
  operationState:
    phase: Failed
    message: one or more objects failed to apply
    syncResult:
      resources:
        - {kind: Memcached, status: SyncFailed, message: "spec.size: Invalid value"}
        - {kind: Namespace, status: Synced, message: unchanged}
  resources:
    - {kind: Application, name: olm}
    - {kind: ConfigMap, name: other}
    - {kind: Subscription, name: s, health: {status: Degraded, message: ResolutionFailed}}
    - {kind: CatalogSource, name: c, health: {status: Healthy, message: OLM reads the catalog}}
    - {kind: Application, name: memcached-operator}
`

func TestAnApplicationIsRead(t *testing.T) {
	var object map[string]any
	if err := yaml.Unmarshal([]byte(application), &object); err != nil {
		t.Fatal(err)
	}
	want := &Application{
		Name: "root", Repo: "https://git.example.org/x.git", Target: "main", Path: "gitops/apps/overlays/olm",
		Sync: "OutOfSync", Health: "Progressing", Revision: "abc", Deleting: true,
		Messages: []string{
			"Failed to load target state", "one or more objects failed to apply", "spec.size: Invalid value", "Subscription s: ResolutionFailed",
		},
		Children: []string{"olm", "memcached-operator"},
	}
	if diff := cmp.Diff(want, parse(object, "root")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnApplicationIsHealthyAtACommit(t *testing.T) {
	tests := map[string]struct {
		application Application
		want        bool
	}{
		"synced to it and healthy":        {Application{Sync: "Synced", Health: "Healthy", Revision: "new"}, true},
		"synced to another":               {Application{Sync: "Synced", Health: "Healthy", Revision: "old"}, false},
		"compared with it but not synced": {Application{Sync: "OutOfSync", Health: "Healthy", Revision: "new"}, false},
		"synced and on its way":           {Application{Sync: "Synced", Health: "Progressing", Revision: "new"}, false},
		"not there":                       {Application{}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.application.Healthy("new"); got != tc.want {
				t.Errorf("%t, want %t", got, tc.want)
			}
		})
	}
}

func TestAConflictNamesFieldsAndWhoSetThem(t *testing.T) {
	err := apierrors.NewApplyConflict([]metav1.StatusCause{
		{Type: metav1.CauseTypeFieldManagerConflict, Field: ".data.x", Message: `conflict with "helm"`},
		{Type: metav1.CauseTypeFieldValueInvalid, Field: ".data.y", Message: "something else"},
	}, "conflict")
	if diff := cmp.Diff([]string{`.data.x (conflict with "helm")`}, fieldsOf(err)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if fields := fieldsOf(errors.New("something else")); fields != nil {
		t.Errorf("fields of another error: %v", fields)
	}
}
