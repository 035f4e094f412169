package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	gocmp "github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
)

// reviews answers as the API server does: it knows the users of the tokens "reader" and "stranger", and only the reader
// may read the metrics.
type reviews struct {
	authenticationclient.TokenReviewInterface
	err   error
	asked int
}

type accessReviews struct {
	authorizationclient.SubjectAccessReviewInterface
	of *reviews
}

func (r *reviews) Create(
	_ context.Context, review *authenticationv1.TokenReview, _ metav1.CreateOptions,
) (*authenticationv1.TokenReview, error) {
	r.asked++
	name := review.Spec.Token
	review.Status.Authenticated = name == "reader" || name == "stranger"
	review.Status.User = authenticationv1.UserInfo{Username: name, Groups: []string{"all"}}
	return review, r.err
}

func (r accessReviews) Create(
	_ context.Context, review *authorizationv1.SubjectAccessReview, _ metav1.CreateOptions,
) (*authorizationv1.SubjectAccessReview, error) {
	r.of.asked++
	wanted := authorizationv1.SubjectAccessReviewSpec{
		User: "reader", Groups: []string{"all"}, Extra: map[string]authorizationv1.ExtraValue{},
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Verb: "get", Path: "/metrics"},
	}
	review.Status.Allowed = gocmp.Equal(wanted, review.Spec)
	return review, r.of.err
}

func TestReaders(t *testing.T) {
	tests := map[string]struct {
		method string
		header string
		err    error
		want   int
		asked  int // reviews that two requests cause
	}{
		"no token":                    {want: http.StatusUnauthorized},
		"another scheme":              {header: "Basic reader", want: http.StatusUnauthorized},
		"a scheme without a token":    {header: "Bearer ", want: http.StatusUnauthorized},
		"an unknown token":            {header: "Bearer nobody", want: http.StatusUnauthorized, asked: 1},
		"the token of a stranger":     {header: "Bearer stranger", want: http.StatusForbidden, asked: 2},
		"the token of a reader":       {header: "Bearer reader", want: http.StatusOK, asked: 2},
		"the scheme in lower case":    {header: "bearer  reader", want: http.StatusOK, asked: 2},
		"a reader who wants to write": {method: http.MethodPost, header: "Bearer reader", want: http.StatusMethodNotAllowed},
		"a method of a megabyte":      {method: strings.Repeat("A", 1<<20), header: "Bearer nobody", want: http.StatusMethodNotAllowed},
		"an API server that fails":    {header: "Bearer reader", err: errors.New("down"), want: http.StatusInternalServerError, asked: 2},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			server := &reviews{err: tc.err}
			r := newReaders(server, accessReviews{of: server})
			handler, err := r.filter(logr.Discard(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte("metrics"))
			}))
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				request, answer := httptest.NewRequest(cmp.Or(tc.method, http.MethodGet), metricsPath, nil), httptest.NewRecorder()
				request.Header.Set("Authorization", tc.header)
				handler.ServeHTTP(answer, request)
				if answer.Code != tc.want || (answer.Body.String() == "metrics") != (tc.want == http.StatusOK) {
					t.Errorf("%d %q, want %d", answer.Code, answer.Body, tc.want)
				}
			}
			if server.asked != tc.asked {
				t.Errorf("%d questions to the API server, want %d: the answer is valid for a while", server.asked, tc.asked)
			}
		})
	}
}

// TestAFloodOfTokensIsBounded: no matter how many tokens come in, the API server reviews few of them. A client that was
// allowed before stays allowed, even when its token has to be reviewed again.
func TestAFloodOfTokensIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &reviews{}
		r := newReaders(server, accessReviews{of: server})
		handler, err := r.filter(logr.Discard(), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		if err != nil {
			t.Fatal(err)
		}
		ask := func(token string) *httptest.ResponseRecorder {
			request, answer := httptest.NewRequest(http.MethodGet, metricsPath, nil), httptest.NewRecorder()
			request.Header.Set("Authorization", "Bearer "+token)
			handler.ServeHTTP(answer, request)
			return answer
		}
		const seconds, each = 300, 1000
		for second := range seconds {
			if got := ask("reader"); got.Code != http.StatusOK {
				t.Fatalf("after %d s, the reader is answered %d", second, got.Code)
			}
			for i := range each {
				got := ask(fmt.Sprint("token ", second*each+i))
				refused := got.Code == http.StatusUnauthorized
				bounded := got.Code == http.StatusTooManyRequests && got.Header().Get("Retry-After") == "1"
				if !refused && !bounded {
					t.Fatalf("a token of a flood is answered %d", got.Code)
				}
			}
			time.Sleep(time.Second)
		}
		unknown, known := unknownBurst+seconds*mostUnknown, 2*seconds/int(allowedTTL.Seconds())
		if server.asked > unknown+known {
			t.Errorf("%d questions to the API server, want at most %d", server.asked, unknown+known)
		}
	})
}
