package apply

// Compares the desired with the cached object as server-side apply does.

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/example-inc/memcached-operator/operator/internal/drift"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// noResourceVersion is a resource version that no object has: etcd counts from 1, and the first write makes it 2.
const noResourceVersion = "1"

// stamp writes the hash of the object into its annotation AnnotationAppliedHash.
func stamp(object render.Object) error {
	content, err := json.Marshal(withoutLogin(object.Configuration))
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	sum := sha256.Sum256(content)
	object.Metadata.WithAnnotations(map[string]string{names.AnnotationAppliedHash: hex.EncodeToString(sum[:8])})
	return nil
}

// schemas has, for each kind, the schema by which objects of the kind are compared.
type schemas map[schema.GroupKind]*kindSchema

// kindSchema compares objects of one kind.
type kindSchema struct {
	typed.ParseableType

	checks sync.Map // from [2]reflect.Type to check
}

// newSchemas finds the schemas of all managed kinds. The schemas are compiled into the operator, so it does not read
// them from the API server.
func newSchemas(scheme *runtime.Scheme) schemas {
	found := schemas{}
	for _, kind := range observe.AllKinds() {
		if kind.GroupVersionKind == observe.CertificateKind {
			found[kind.GroupKind()] = certificateSchema()
			continue
		}
		name, err := scheme.ToOpenAPIDefinitionName(kind.GroupVersionKind)
		if err != nil {
			panic(err) // The kind is not in the scheme: a programming error.
		}
		found[kind.GroupKind()] = &kindSchema{ParseableType: typed.ParseableType{
			Schema: &kindsSchema, TypeRef: smdschema.TypeRef{NamedType: &name},
		}}
	}
	return found
}

// differences returns the fields that applying the object would change. Usually no field would change, and covers finds
// this in a tenth of the time that a full comparison takes. The annotation with the hash is one of the fields: it
// differs even if the only change is that the operator no longer sets a field that it set before.
func (s schemas) differences(live client.Object, object render.Object) (*fieldpath.Set, error) {
	kind := s[object.GroupKind]
	if kind.covers(object.Configuration, live) {
		return fieldpath.NewSet(), nil
	}
	return kind.differences(live, object.Configuration)
}

// covers returns true only if applying the desired object would certainly change nothing.
func (k *kindSchema) covers(wanted runtime.ApplyConfiguration, live client.Object) bool {
	types := [2]reflect.Type{reflect.TypeOf(wanted), reflect.TypeOf(live)}
	known, ok := k.checks.Load(types)
	if !ok {
		root := pair{schema: k.Schema, ref: k.TypeRef, wanted: types[0], live: types[1], ignored: kindNames}
		known, _ = k.checks.LoadOrStore(types, root.check())
	}
	return known.(check)(reflect.ValueOf(wanted), reflect.ValueOf(live))
}

// differences compares as the API server does, with the same library: lists by their keys, and quantities by their
// canonical text.
func (k *kindSchema) differences(live client.Object, configuration runtime.ApplyConfiguration) (*fieldpath.Set, error) {
	rendered, err := untyped(configuration)
	if err != nil {
		return nil, err
	}
	return k.compare(live, rendered)
}

func untyped(configuration runtime.ApplyConfiguration) (map[string]any, error) {
	rendered, err := runtime.DefaultUnstructuredConverter.ToUnstructured(configuration)
	if err != nil {
		return nil, fmt.Errorf("read the rendered object: %w", err)
	}
	return rendered, nil
}

// compare returns the fields of the rendered object that the live object does not have, or has with another value. The
// live object may have any Go type.
func (k *kindSchema) compare(live any, rendered map[string]any) (*fieldpath.Set, error) {
	found, err := value.NewValueReflect(live)
	if err != nil {
		return nil, fmt.Errorf("read the live object: %w", err)
	}
	// Both objects have Kubernetes' own types. With the validation that the library recommends, the comparison would take
	// half as long again.
	current := typed.AsTypedUnvalidated(found, k.Schema, k.TypeRef) //nolint:staticcheck // see above
	asked := value.NewValueInterface(rendered)
	wanted := typed.AsTypedUnvalidated(asked, k.Schema, k.TypeRef) //nolint:staticcheck // see above
	comparison, err := current.Compare(wanted)
	if err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	// Fields that only the live object has belong to another field manager, or are defaults of the API server.
	return comparison.Added.Union(comparison.Modified).Leaves().Difference(kindFields), nil
}

// kindNames identify the kind of an object. Objects read from the API server do not have them.
var kindNames = []string{"apiVersion", "kind"}

var kindFields = fieldpath.NewSet(fieldpath.MakePathOrDie(kindNames[0]), fieldpath.MakePathOrDie(kindNames[1]))

// hashOf reads the hash that stamp wrote.
func hashOf(object render.Object) string {
	return object.Metadata.Annotations[names.AnnotationAppliedHash]
}

// paths returns the paths of a set without the operator's own annotations, which change with other fields.
func paths(set *fieldpath.Set) []string {
	var paths []string
	for path := range set.All() {
		if !drift.IsOwnAnnotation(path) {
			paths = append(paths, path.String())
		}
	}
	return paths
}
