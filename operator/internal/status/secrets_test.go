package status

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

func TestWhatIsWrongWithSecrets(t *testing.T) {
	const keep = ". The nodes that run keep what they have, and nothing else is changed before"
	tests := map[string]struct {
		snapshot func(*observe.Snapshot)
		reason   string
		state    string
		message  string
	}{
		"nothing": {func(s *observe.Snapshot) {
			s.TLS, s.Auth = &observe.Secret{Name: "tls", NotAfter: noon}, &observe.Secret{Name: "users"}
		}, cachev1.ReasonAllNodesReady, cachev1.ConditionReady, "3 of 3 nodes ready"},
		"both are missing": {func(s *observe.Snapshot) {
			s.TLS, s.Auth = &observe.Secret{Name: "tls", Missing: true}, &observe.Secret{Name: "users", Missing: true}
		}, cachev1.ReasonSecretNotFound, cachev1.ConditionReconciling, `spec.tls.secretName "tls" is not there: create the Secret in ` +
			`namespace "team"; spec.auth.secretName "users" is not there: create the Secret in namespace "team"` + keep},
		"one is malformed": {func(s *observe.Snapshot) {
			s.Auth = &observe.Secret{Name: "users", Problem: "users, line 1: no colon"}
		}, cachev1.ReasonInvalidSecret, cachev1.ConditionStalled, `spec.auth.secretName "users": users, line 1: no colon` + keep},
		"one is malformed, and there are no nodes yet": {func(s *observe.Snapshot) {
			s.Auth, s.Children = &observe.Secret{Name: "users", Problem: "users, line 1: no colon"}, nil
		}, cachev1.ReasonInvalidSecret, cachev1.ConditionStalled,
			`spec.auth.secretName "users": users, line 1: no colon. No node is made before`},
		"the certificate has ended": {func(s *observe.Snapshot) {
			s.TLS = &observe.Secret{Name: "tls", NotAfter: noon, Expired: true}
		}, cachev1.ReasonCertificateExpired, cachev1.ConditionStalled, `The certificate in the Secret "tls" ended at ` +
			`2030-01-02T12:00:00Z, and clients refuse it: renew it. The nodes take the new one without a restart`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := rolledOut()
			tc.snapshot(&in.Snapshot)
			now := Evaluate(in)
			ready := meta.FindStatusCondition(now.Conditions, cachev1.ConditionReady)
			if ready.Reason != tc.reason || !meta.IsStatusConditionTrue(now.Conditions, tc.state) {
				t.Errorf("reason %s, conditions %v", ready.Reason, now.Conditions)
			}
			if diff := cmp.Diff(tc.message, ready.Message); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheStatusTellsTheEndOfTheCertificateInTheSecret(t *testing.T) {
	in := rolledOut()
	for _, tc := range []struct {
		secret *observe.Secret
		want   *cachev1.TLSStatus
	}{
		{&observe.Secret{NotAfter: noon}, &cachev1.TLSStatus{NotAfter: &metav1.Time{Time: noon}}},
		{&observe.Secret{NotAfter: noon, Missing: true}, nil},
		{&observe.Secret{Problem: "malformed"}, nil},
		{nil, nil},
	} {
		in.Snapshot.TLS = tc.secret
		now := Evaluate(in)
		if diff := cmp.Diff(tc.want, now.TLS); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", tc.secret, diff)
		}
		if in.Memcached.Status = now; Differs(now, Evaluate(in)) {
			t.Error("the same status is written again")
		}
	}
}

// TestARestartIsNeededUntilEachNodeIsNewer goes through what is seen one after another.
func TestARestartIsNeededUntilEachNodeIsNewer(t *testing.T) {
	in := rolledOut()
	madeAt := func(minutes ...time.Duration) {
		for i, minute := range minutes {
			in.Snapshot.Nodes[i].Made = noon.Add(minute * time.Minute)
		}
	}
	removedAt := func(minutes time.Duration) *observe.Secret {
		return &observe.Secret{Name: "secret", Removed: "something", RemovedSince: noon.Add(minutes*time.Minute + time.Millisecond)}
	}
	steps := []struct {
		name string
		seen func()
		want string // reason and time
	}{
		{"all is as it was", func() { madeAt(0, 0, 0) }, ""},
		{"a CA is removed", func() { in.Snapshot.TLS = removedAt(5) }, "ClientCARemoved 12:05"},
		{"some nodes are newer", func() { madeAt(6, 7, 0) }, "ClientCARemoved 12:05"},
		{"the operator was restarted", func() { in.Snapshot.TLS = &observe.Secret{Name: "secret"} }, "ClientCARemoved 12:05"},
		{"a user is removed", func() { in.Snapshot.Auth = removedAt(8) }, "UserRemoved 12:08"},
		{"a node was made in the same second", func() { madeAt(9, 9, 8) }, "UserRemoved 12:08"},
		{"all nodes are newer", func() { madeAt(9, 9, 9) }, ""},
		{"nothing new is seen", func() {}, ""},
		{"another user is removed", func() { in.Snapshot.Auth = removedAt(10) }, "UserRemoved 12:10"},
	}
	for _, step := range steps {
		step.seen()
		in.Memcached.Status = Evaluate(in)
		got := ""
		condition := meta.FindStatusCondition(in.Memcached.Status.Conditions, cachev1.ConditionRestartNeeded)
		if condition != nil {
			got = condition.Reason + condition.LastTransitionTime.UTC().Format(" 15:04")
			if !strings.Contains(condition.Message, `The Secret "secret" does not hold something any more`) {
				t.Errorf("%s: message %q", step.name, condition.Message)
			}
		}
		if got != step.want {
			t.Errorf("%s: %q, want %q", step.name, got, step.want)
		}
		if Differs(in.Memcached.Status, Evaluate(in)) {
			t.Errorf("%s: the same status is written again", step.name)
		}
	}
}
