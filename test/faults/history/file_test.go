package history

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
)

func TestASavedHistoryIsTheSame(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 123_000_000, time.UTC)
	write := &audit.Request{Verb: "patch", URI: "/x?force=true", UserAgent: "a started/2026-01-01T00:00:00Z", Answered: at}
	write.User.Username, write.Body = "operator", []byte(`{"spec":{"replicas":3}}`)
	read := &audit.Request{Verb: "get"}
	pod := &unstructured.Unstructured{Object: map[string]any{
		"kind": "Pod", "metadata": map[string]any{"name": "p", "generation": int64(2)},
	}}
	tests := map[string]*History{
		"without entries": {Namespace: "n", Operator: "o", Entries: []Entry{}},
		"with each kind of entry": {Namespace: "n", Operator: "o", Entries: []Entry{
			{Time: at, Step: PhaseStarted},
			{Time: at, State: &State{Type: watch.Added, Object: pod, By: write}},
			{Time: at, Request: read},
		}},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "history.json")
			if err := want.Save(path); err != nil {
				t.Fatal(err)
			}
			got, err := Load(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("loaded (-saved +loaded):\n%s", diff)
			}
		})
	}
}

func TestAProcessIsKnownByItsRequests(t *testing.T) {
	started := time.Date(2026, 1, 1, 0, 0, 0, 5_000_000, time.UTC)
	direct := &audit.Request{UserAgent: "kubectl/v1"}
	if process := ProcessOf(direct); process != "" || !process.Started().IsZero() {
		t.Errorf("a request that passed no proxy is of process %q, started %v", process, process.Started())
	}
	proxied := &audit.Request{UserAgent: "operator/v1 started/" + started.Format(time.RFC3339Nano)}
	if got := ProcessOf(proxied).Started(); !got.Equal(started) {
		t.Errorf("started %v, want %v", got, started)
	}
}
