package apply

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// noResourceVersion is a resource version that no object has: etcd counts from 1, and the first write makes it 2.
const noResourceVersion = "1"

// stamp notes on the object, as an annotation, the hash of everything else in it.
func stamp(object render.Object) error {
	content, err := json.Marshal(object.Configuration)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	sum := sha256.Sum256(content)
	object.Metadata.WithAnnotations(map[string]string{names.AnnotationAppliedHash: hex.EncodeToString(sum[:8])})
	return nil
}

// differences returns the paths of the fields that applying the object would change, as the API server's own
// library compares them: lists by their keys, quantities by their value. The hash, which is one of the fields, shows
// a field that we set once and no longer want.
func (s *Syncer) differences(live client.Object, object render.Object) ([]string, error) {
	current, err := s.converter.ObjectToTyped(live)
	if err != nil {
		return nil, fmt.Errorf("read the live object: %w", err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object.Configuration)
	if err != nil {
		return nil, fmt.Errorf("read the rendered object: %w", err)
	}
	wanted, err := s.converter.ObjectToTyped(&unstructured.Unstructured{Object: content})
	if err != nil {
		return nil, fmt.Errorf("read the rendered object: %w", err)
	}
	comparison, err := current.Compare(wanted)
	if err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	// What is only in the live object is somebody else's, or a default of the API server.
	return paths(comparison.Added.Union(comparison.Modified)), nil
}

func paths(set *fieldpath.Set) []string {
	var paths []string
	set.Leaves().Iterate(func(path fieldpath.Path) { paths = append(paths, path.String()) })
	return paths
}
