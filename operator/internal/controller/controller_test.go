package controller

import (
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/secrets"
	"github.com/example-inc/memcached-operator/operator/internal/status"
)

func TestWhatFailedIsRetriedUnlessItWouldFailAgain(t *testing.T) {
	invalid := &plan.InvalidSpec{Problems: []string{"not an image"}}
	failed := apply.Report{{GroupKind: schema.GroupKind{Kind: "Deployment"}, Result: apply.Failed, Err: errors.New("no answer")}}
	tests := map[string]struct {
		in    status.Input
		fails bool
		after time.Duration
	}{
		"nothing failed":                          {after: time.Minute},
		"something could not be read":             {in: status.Input{Err: errors.New("no answer")}, fails: true},
		"a Secret could not be read":              {in: status.Input{Snapshot: observe.Snapshot{TLS: &secrets.State{Err: errors.New("no answer")}}}, fails: true},
		"an object was not written":               {in: status.Input{Report: failed}, fails: true},
		"the spec is invalid":                     {in: status.Input{Err: invalid}, after: time.Minute},
		"the spec is invalid, and a pause failed": {in: status.Input{Err: invalid, Report: failed}, fails: true},
		"the spec is invalid, and a pause has to wait": {
			in:    status.Input{Err: invalid, Report: apply.Report{{Result: apply.Paused, RetryAfter: time.Second}}},
			after: time.Second,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			result, err := retry(tc.in, time.Minute)
			if failed := err != nil; failed != tc.fails || result.RequeueAfter != tc.after {
				t.Errorf("retry gives %v and %v, want the failure %v and %s", result, err, tc.fails, tc.after)
			}
		})
	}
}
