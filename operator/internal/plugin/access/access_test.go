package access

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestAnErrorOfTheAPIServerHasTheFix(t *testing.T) {
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	refused := &url.Error{Op: "Get", URL: "https://east", Err: &net.OpError{Op: "dial", Err: errors.New("connection refused")}}
	forbidden := func(why string) error { return apierrors.NewForbidden(pods.GroupResource(), "", errors.New(why)) }
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"no connection":                 {refused, "choose another cluster by --context"},
		"no answer":                     {&url.Error{Op: "Get", Err: context.DeadlineExceeded}, "raise --request-timeout"},
		"an interrupt":                  {&url.Error{Op: "Get", Err: context.Canceled}, "interrupted before"},
		"a right that is missing":       {forbidden(`User "dev" cannot list resource "pods"`), "docs/kubectl-memcached.md#rights"},
		"a webhook that refuses":        {forbidden("only on Mondays"), ""},
		"an object that does not exist": {apierrors.NewNotFound(pods.GroupResource(), "shop"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := explained(tc.err, pods)
			if !errors.Is(got, tc.err) || !strings.Contains(got.Error(), tc.want) || tc.want == "" && got.Error() != tc.err.Error() {
				t.Errorf("got %v, want %q", got, tc.want)
			}
		})
	}
}
