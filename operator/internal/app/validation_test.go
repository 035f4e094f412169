package app

import (
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

type recorder func(*http.Request)

func (r recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	r(request)
	return &http.Response{}, nil
}

func TestOnlyWhatIsAppliedIsDecodedOnce(t *testing.T) {
	tests := map[string]struct {
		contentType types.PatchType
		query, want string
	}{
		"an apply":                      {types.ApplyPatchType, "fieldManager=m", "fieldManager=m&fieldValidation=Ignore"},
		"an apply without a parameter":  {types.ApplyPatchType, "", "fieldValidation=Ignore"},
		"a merge patch":                 {types.MergePatchType, "fieldManager=m", "fieldManager=m"},
		"a request without any content": {"", "watch=true", "watch=true"},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, "https://h/x?"+tc.query, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", string(tc.contentType))
			got := ""
			sent := recorder(func(r *http.Request) { got = r.URL.RawQuery })
			response, err := withoutStrictDecoding(sent).RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			if response.Body != nil {
				t.Fatal("there is a body to close")
			}
			if got != tc.want || request.URL.RawQuery != tc.query {
				t.Errorf("sent %q, want %q; the caller's request has %q now", got, tc.want, request.URL.RawQuery)
			}
		})
	}
}
