package apply

// Treats a Certificate specially: the operator requests it only for Services that belong to the cache, and client-go
// does not know its schema.

import (
	"fmt"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// withheld returns the outcome of an object that must be neither changed nor created; for any other object it is zero.
// If a Service of another owner has one of the names in a certificate, the certificate would let the Pods impersonate
// that Service.
func withheld(report Report, object render.Object) Outcome {
	foreign := slices.ContainsFunc(report, func(o Outcome) bool {
		return o.GroupKind == observe.ServiceKind.GroupKind() && o.Result == NotOwned
	})
	switch {
	case object.Withheld != "":
		return Outcome{Result: NotOwned, Why: object.Withheld}
	case foreign && object.GroupKind == observe.CertificateKind.GroupKind():
		return Outcome{Result: NotOwned, Why: fmt.Sprintf("Certificate %q is not requested while it would name a "+
			"Service of another owner", *object.Metadata.Name)}
	}
	return Outcome{}
}

// certificateSchema returns the part of cert-manager's CustomResourceDefinition that has the fields which the operator
// knows.
func certificateSchema() *kindSchema {
	const name = "io.cert-manager.v1.Certificate"
	types := append(slices.Clone(kindsSchema.Types), schema.TypeDef{Name: name, Atom: structOf(map[string]schema.TypeRef{
		"apiVersion": text,
		"kind":       text,
		"metadata":   named("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"),
		"spec": {Inlined: structOf(map[string]schema.TypeRef{
			"secretName": text,
			"dnsNames":   texts,
			"usages":     texts,
			"privateKey": {Inlined: structOf(map[string]schema.TypeRef{"rotationPolicy": text})},
			"issuerRef":  {Inlined: structOf(map[string]schema.TypeRef{"name": text, "kind": text, "group": text})},
		})},
		"status": named("__untyped_deduced_"),
	})})
	return &kindSchema{ParseableType: typed.ParseableType{
		Schema: &schema.Schema{Types: types}, TypeRef: named(name),
	}}
}

var (
	text  = schema.TypeRef{Inlined: schema.Atom{Scalar: new(schema.String)}}
	texts = schema.TypeRef{Inlined: schema.Atom{List: &schema.List{
		ElementType: text, ElementRelationship: schema.Atomic,
	}}}
)

func named(name string) schema.TypeRef { return schema.TypeRef{NamedType: &name} }

func structOf(fields map[string]schema.TypeRef) schema.Atom {
	structure := &schema.Map{}
	for name, field := range fields {
		structure.Fields = append(structure.Fields, schema.StructField{Name: name, Type: field})
	}
	return schema.Atom{Map: structure}
}
