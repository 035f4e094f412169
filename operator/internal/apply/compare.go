package apply

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/applyconfigurations"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/example-inc/memcached-operator/operator/internal/drift"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
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

// schemas tell how objects of a kind are compared.
type schemas map[schema.GroupKind]*typed.TypedValue

// newSchemas finds the schemas of all kinds of child. Client-go has them in it: the API server is not asked.
func newSchemas(scheme *runtime.Scheme) schemas {
	converter := applyconfigurations.NewTypeConverter(scheme)
	found := schemas{}
	for _, kind := range observe.Kinds() {
		empty := kind.New()
		empty.GetObjectKind().SetGroupVersionKind(kind.GroupVersionKind)
		typed, err := converter.ObjectToTyped(empty)
		if err != nil {
			panic(err) // A kind that client-go does not know: a mistake in the program.
		}
		found[kind.GroupKind()] = typed
	}
	return found
}

// differences returns the fields that applying the object would change, as the API server's own
// library compares them: lists by their keys, quantities by their value. The hash, which is one of the fields, shows
// a field that we set once and no longer want.
func (s schemas) differences(live client.Object, object render.Object) (*fieldpath.Set, error) {
	kind := s[object.GroupKind]
	found, err := value.NewValueReflect(live)
	if err != nil {
		return nil, fmt.Errorf("read the live object: %w", err)
	}
	rendered, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object.Configuration)
	if err != nil {
		return nil, fmt.Errorf("read the rendered object: %w", err)
	}
	// Both are of Kubernetes' own types. Validating them, as the library would like, takes half as long again.
	current := typed.AsTypedUnvalidated(found, kind.Schema(), kind.TypeRef()) //nolint:staticcheck // see above
	asked := value.NewValueInterface(rendered)
	wanted := typed.AsTypedUnvalidated(asked, kind.Schema(), kind.TypeRef()) //nolint:staticcheck // see above
	comparison, err := current.Compare(wanted)
	if err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	// What is only in the live object is somebody else's, or a default of the API server.
	return comparison.Added.Union(comparison.Modified).Leaves().Difference(kindFields), nil
}

// kindFields say what an object is. What is read past the cache leaves them out.
var kindFields = fieldpath.NewSet(fieldpath.MakePathOrDie("apiVersion"), fieldpath.MakePathOrDie("kind"))

// hashOf reads what stamp noted.
func hashOf(object render.Object) string {
	return object.Metadata.Annotations[names.AnnotationAppliedHash]
}

// paths leaves out the operator's own notes, which change with other fields.
func paths(set *fieldpath.Set) []string {
	var paths []string
	for path := range set.All() {
		if !drift.IsNote(path) {
			paths = append(paths, path.String())
		}
	}
	return paths
}
