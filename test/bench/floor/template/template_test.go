package template

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTheRequestsOfOneMemcachedAreMadeForAnother(t *testing.T) {
	made := Template{
		Name: "cache-00000", Namespace: "bench-00", UID: "one",
		Requests: Requests{{
			Path: "/api/v1/namespaces/bench-00/services/cache-00000", Type: "application/apply-patch+yaml",
			Body: `{"metadata":{"name":"cache-00000","ownerReferences":[{"uid":"one"}]}}`,
		}},
	}
	path := filepath.Join(t.TempDir(), "template.json")
	if err := made.Write(path); err != nil {
		t.Fatal(err)
	}
	read, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	got := read.For(metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "cache-00007", Namespace: "bench-07", UID: "two"}})
	want := Requests{{
		Path: "/api/v1/namespaces/bench-07/services/cache-00007", Type: "application/apply-patch+yaml",
		Body: `{"metadata":{"name":"cache-00007","ownerReferences":[{"uid":"two"}]}}`,
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(made, read); diff != "" {
		t.Errorf("what was read is not what was written (-want +got):\n%s", diff)
	}
}
