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
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

func TestWhatFailedIsRetriedUnlessItWouldFailAgain(t *testing.T) {
	invalid := plan.Invalid{Problems: []string{"not an image"}}
	failed := apply.Report{{GroupKind: schema.GroupKind{Kind: "Deployment"}, Result: apply.Failed, Err: errors.New("no answer")}}
	tests := map[string]struct {
		found reconciliation
		fails bool
		after time.Duration
	}{
		"nothing failed":              {after: time.Minute},
		"something could not be read": {found: reconciliation{err: errors.New("no answer")}, fails: true},
		"a Secret could not be read":  {found: reconciliation{snapshot: observe.Snapshot{TLS: &secrets.State{Err: errors.New("no answer")}}}, fails: true},
		"an object was not written":   {found: reconciliation{report: failed}, fails: true},
		"a Pod was not changed":       {found: reconciliation{podsErr: errors.New("no answer")}, fails: true},
		"the spec is invalid":         {found: reconciliation{outcome: invalid}, after: time.Minute},
		"the spec is invalid, and a Secret could not be read": {
			found: reconciliation{outcome: invalid, snapshot: observe.Snapshot{TLS: &secrets.State{Err: errors.New("no answer")}}},
			after: time.Minute,
		},
		"the spec is invalid, and a pause failed": {found: reconciliation{outcome: invalid, report: failed}, fails: true},
		"the spec is invalid, and a pause has to wait": {
			found: reconciliation{outcome: invalid, report: apply.Report{{Result: apply.Paused, RetryAfter: time.Second}}},
			after: time.Second,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := &tc.found
			c.statusWait = time.Minute
			if err := c.failure(); (err != nil) != tc.fails {
				t.Errorf("failure %v, want %v", err, tc.fails)
			}
			if got := c.again(); !tc.fails && got != tc.after {
				t.Errorf("again after %s, want %s", got, tc.after)
			}
		})
	}
}

func TestTheSoonestCauseDecidesWhenToReconcileAgain(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	slotsIn := func(after time.Duration) plan.Plan {
		return plan.Plan{Slots: &plan.Slots{Decision: slots.Decision{RequeueAfter: after}}}
	}
	expires := func(in time.Duration) observe.Snapshot {
		return observe.Snapshot{TLS: &secrets.State{NotAfter: now.Add(in)}}
	}
	expired := expires(-time.Hour)
	expired.TLS.Expired = true
	tests := map[string]struct {
		c    reconciliation
		want time.Duration
	}{
		"nothing is awaited":                       {reconciliation{}, 0},
		"the status may be written":                {reconciliation{statusWait: time.Minute}, time.Minute},
		"an object may be written":                 {reconciliation{report: apply.Report{{RetryAfter: time.Second}}, statusWait: time.Minute}, time.Second},
		"a slot is decided about":                  {reconciliation{outcome: plan.Ready{Plan: slotsIn(5 * time.Second)}, statusWait: time.Minute}, 5 * time.Second},
		"a slot that an invalid spec keeps is too": {reconciliation{outcome: plan.Invalid{Kept: new(slotsIn(5 * time.Second))}}, 5 * time.Second},
		"another client changed a Pod":             {reconciliation{outcome: plan.Ready{Plan: slotsIn(5 * time.Second)}, podsChanged: true}, time.Second},
		"the certificate expires":                  {reconciliation{snapshot: expires(time.Hour)}, time.Hour},
		"the certificate expires in a year":        {reconciliation{snapshot: expires(365 * 24 * time.Hour)}, 24 * time.Hour},
		"the certificate expires now":              {reconciliation{snapshot: expires(time.Millisecond)}, time.Second},
		"the certificate has expired":              {reconciliation{snapshot: expired}, 0},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			c := &tc.c
			c.now = now
			if got := c.again(); got != tc.want {
				t.Errorf("again after %s, want %s", got, tc.want)
			}
		})
	}
}
