package app

// Spares the API server a validation of the objects that the operator applies.

import (
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// withoutStrictDecoding makes the API server decode an applied object only once. By default, it decodes the object a
// second time, to warn of keys that occur twice. Applied objects are encoded from Go types, which have each key once.
// An apply with a field that the API server does not know fails anyway. controller-runtime has no option for this.
func withoutStrictDecoding(next http.RoundTripper) http.RoundTripper { return lenient{next} }

type lenient struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (l lenient) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Header.Get("Content-Type") == string(types.ApplyPatchType) {
		request = request.Clone(request.Context()) // A RoundTripper must not change the request.
		const parameter = "fieldValidation=" + metav1.FieldValidationIgnore
		request.URL.RawQuery = strings.TrimPrefix(request.URL.RawQuery+"&"+parameter, "&")
	}
	return l.RoundTripper.RoundTrip(request)
}

// WrappedRoundTripper gives client-go the wrapped transport, for example to close idle connections.
func (l lenient) WrappedRoundTripper() http.RoundTripper { return l.RoundTripper }
