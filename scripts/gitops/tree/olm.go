package tree

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// Groups of the kinds of OLM, v0 and v1.
const (
	OLM   = "operators.coreos.com"
	OLMv1 = "olm.operatorframework.io"
)

// Installs tells whether the object makes OLM install the operator.
func (b *Builder) Installs(o Object) bool {
	switch {
	case o.Is(OLM, "Subscription"):
		return o.Text("spec", "name") == b.Package
	case o.Is(OLMv1, "ClusterExtension"):
		return o.Text("spec", "source", "catalog", "packageName") == b.Package
	}
	return false
}

// Text is a text in the object, empty where there is none.
func (o Object) Text(path ...string) string {
	text, _, err := unstructured.NestedString(o.Unstructured.Object, path...)
	if err != nil {
		return ""
	}
	return text
}
