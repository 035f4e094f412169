package status

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/secrets"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

func TestWhatIsWrongWithSecrets(t *testing.T) {
	const keep = ". Running Pods keep what they loaded; new Pods cannot start until then"
	tests := map[string]struct {
		snapshot func(*observe.Snapshot)
		reason   string
		state    string
		message  string
	}{
		"nothing": {func(s *observe.Snapshot) {
			s.TLS, s.Auth = &secrets.State{Name: "tls", NotAfter: noon}, &secrets.State{Name: "users"}
		}, cachev1.ReasonAllPodsReady, cachev1.ConditionReady, "3 of 3 Pods ready"},
		"both are missing": {func(s *observe.Snapshot) {
			s.TLS, s.Auth = &secrets.State{Name: "tls", Missing: true}, &secrets.State{Name: "users", Missing: true}
		}, cachev1.ReasonSecretNotFound, cachev1.ConditionReconciling, `spec.tls.secretName "tls" does not exist: create the Secret in ` +
			`namespace "team"; spec.auth.secretName "users" does not exist: create the Secret in namespace "team"` + keep},
		"one is malformed": {func(s *observe.Snapshot) {
			s.Auth = &secrets.State{Name: "users", Problem: "users, line 1: no colon"}
		}, cachev1.ReasonInvalidSecret, cachev1.ConditionStalled, `spec.auth.secretName "users": users, line 1: no colon` + keep},
		"one is malformed, and there are no Pods yet": {func(s *observe.Snapshot) {
			s.Auth, s.Objects = &secrets.State{Name: "users", Problem: "users, line 1: no colon"}, nil
		}, cachev1.ReasonInvalidSecret, cachev1.ConditionStalled,
			`spec.auth.secretName "users": users, line 1: no colon. No Pods are created until then`},
		"one can't be read": {func(s *observe.Snapshot) {
			s.Auth = &secrets.State{Name: "users", Err: errors.New("read Secret team/users: no answer")}
		}, cachev1.ReasonApplyFailed, cachev1.ConditionReconciling, "read Secret team/users: no answer"},
		"the certificate has ended": {func(s *observe.Snapshot) {
			s.TLS = &secrets.State{Name: "tls", NotAfter: noon, Expired: true}
		}, cachev1.ReasonCertificateExpired, cachev1.ConditionStalled, `The certificate in the Secret "tls" expired at ` +
			`2030-01-02T12:00:00Z, and clients refuse it: renew it. The Pods load the new one without a restart`},
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

func TestTheStatusReportsWhenTheCertificateExpires(t *testing.T) {
	in := rolledOut()
	for _, tc := range []struct {
		secret *secrets.State
		want   *cachev1.TLSStatus
	}{
		{&secrets.State{NotAfter: noon}, &cachev1.TLSStatus{NotAfter: &metav1.Time{Time: noon}}},
		{&secrets.State{NotAfter: noon, Missing: true}, nil},
		{&secrets.State{Problem: "malformed"}, nil},
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

// TestWhatPodsStillAcceptIsReportedUntilAllAreReplaced goes through the states that the operator sees one after
// another.
func TestWhatPodsStillAcceptIsReportedUntilAllAreReplaced(t *testing.T) {
	in := rolledOut()
	unread := func(name string) *secrets.State { return &secrets.State{Name: name} }
	in.Snapshot.TLS, in.Snapshot.Auth = unread("tls"), unread("users")
	minute := func(minutes time.Duration) time.Time { return noon.Add(minutes*time.Minute + time.Millisecond) }
	remove := func(secret *secrets.State, what string, minutes time.Duration) {
		secret.Removed = append(secret.Removed, secrets.Removal{What: what, Since: minute(minutes)})
		secret.Noticed = append(secret.Noticed, minute(minutes))
	}
	const cas, users = "ClientCARemoved ", "UserRemoved "
	steps := []struct {
		name string
		seen func()
		want []string // reason, time, and what was removed
	}{
		{"all is as it was", func() { in.Snapshot.Oldest = noon }, nil},
		{"a CA is removed", func() { remove(in.Snapshot.TLS, "one", 5) }, []string{cas + "12:05 one"}},
		{"a user is removed", func() { remove(in.Snapshot.Auth, "ann", 8) }, []string{cas + "12:05 one", users + "12:08 ann"}},
		{"another CA is removed", func() { remove(in.Snapshot.TLS, "two", 9) }, []string{cas + "12:09 one, two", users + "12:08 ann"}},
		{"some Pods are newer", func() { in.Snapshot.Oldest = noon.Add(6 * time.Minute) }, []string{cas + "12:09 two", users + "12:08 ann"}},
		{"what was removed is back", func() { in.Snapshot.TLS.Removed = nil }, []string{users + "12:08 ann"}},
		{"the CA is removed again", func() { remove(in.Snapshot.TLS, "two", 9) }, []string{cas + "12:09 two", users + "12:08 ann"}},
		{"the operator was restarted, and has not read the Secrets", func() {
			in.Snapshot.TLS, in.Snapshot.Auth = &secrets.State{Name: "tls", Missing: true}, &secrets.State{Name: "users"}
		}, []string{cas + "12:09 two", users + "12:08 ann"}},
		{"it reads them", func() { in.Snapshot.TLS, in.Snapshot.Auth = unread("tls"), unread("users") },
			[]string{cas + "12:09 two", users + "12:08 ann"}},
		{"it finds another removal", func() { remove(in.Snapshot.TLS, "three", 11) },
			[]string{cas + "12:09 two", cas + "12:11 three", users + "12:08 ann"}},
		{"which is undone, while the former one is not", func() { in.Snapshot.TLS.Removed = nil },
			[]string{cas + "12:09 two", users + "12:08 ann"}},
		{"the spec names the Secret no more, while the cache is suspended", func() { in.Snapshot.TLS = nil },
			[]string{cas + "12:09 two", users + "12:08 ann"}},
		{"it names it again", func() { in.Snapshot.TLS = unread("tls") }, []string{cas + "12:09 two", users + "12:08 ann"}},
		{"the oldest Pod was created in the same second", func() { in.Snapshot.Oldest = noon.Add(9 * time.Minute) }, []string{cas + "12:09 two"}},
		{"all Pods are newer", func() { in.Snapshot.Oldest = noon.Add(10 * time.Minute) }, nil},
		{"there is no Pod", func() { in.Snapshot.Oldest = time.Time{}; remove(in.Snapshot.Auth, "bob", 11) }, nil},
		{"the Secret is not named any more", func() { in.Snapshot.Oldest, in.Snapshot.Auth = noon, nil }, nil},
	}
	for _, step := range steps {
		step.seen()
		in.Memcached.Status = Evaluate(in)
		var got []string
		for _, required := range in.Memcached.Status.RestartRequired {
			got = append(got, required.Reason+required.Since.UTC().Format(" 15:04 ")+required.Removed)
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
		if Differs(in.Memcached.Status, Evaluate(in)) {
			t.Errorf("%s: the same status is written again", step.name)
		}
	}
}

func TestOneConditionReportsAllThatRequiresARestart(t *testing.T) {
	cas, users := []secrets.Removal{{What: "one", Since: noon}}, []secrets.Removal{{What: "a user", Since: noon.Add(time.Minute)}}
	const end = " until the Pods that started before the removal are restarted (this empties the Pods, unless they hand their keys over): kubectl rollout restart deployment cache"
	tests := map[string]struct {
		cas, users []secrets.Removal
		reason     string
		message    string
	}{
		"nothing": {},
		"a CA": {cas: cas, reason: "ClientCARemoved", message: `Removed from the Secret "tls": one. ` +
			"Memcached keeps accepting clients of a removed CA" + end},
		"a user": {users: users, reason: "UserRemoved", message: `Removed from the Secret "users": a user. ` +
			"Open connections stay logged in" + end},
		"both": {cas: cas, users: users, reason: "ClientCARemoved", message: `Removed from the Secret "tls": one; removed from ` +
			`the Secret "users": a user. Memcached keeps accepting clients of a removed CA, and open connections stay logged in` + end},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := rolledOut()
			in.Now, in.Snapshot.Oldest = noon.Add(time.Hour), noon
			in.Snapshot.TLS = &secrets.State{Name: "tls", Removed: tc.cas}
			in.Snapshot.Auth = &secrets.State{Name: "users", Removed: tc.users}
			var want *metav1.Condition
			if tc.reason != "" {
				want = &metav1.Condition{
					Type: "RestartRequired", Status: "True", Reason: tc.reason, Message: tc.message, ObservedGeneration: 7,
					LastTransitionTime: metav1.NewTime(in.Now),
				}
			}
			got := meta.FindStatusCondition(Evaluate(in).Conditions, cachev1.ConditionRestartRequired)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("condition (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALongListOfWhatWasRemovedFitsIntoTheStatus(t *testing.T) {
	in := rolledOut()
	in.Snapshot.Oldest = noon
	in.Snapshot.TLS = &secrets.State{Removed: []secrets.Removal{{What: strings.Repeat("long", 1e4), Since: noon}}}
	now := Evaluate(in)
	condition := meta.FindStatusCondition(now.Conditions, cachev1.ConditionRestartRequired)
	if len(now.RestartRequired[0].Removed) > longestRemoved || len(condition.Message) > longestMessage {
		t.Errorf("%d bytes, and a message of %d", len(now.RestartRequired[0].Removed), len(condition.Message))
	}
}

func TestTheEndpointStaysWhereTheSpecIsInvalidAndThereIsNoPod(t *testing.T) {
	in := rolledOut()
	in.Memcached.Status.Endpoint, in.Plan, in.Snapshot.Pods = "cache.team.svc:11211", plan.Plan{}, nil
	in.Invalid = &plan.Invalid{Endpoint: "cache.team.svc:11212"}
	if got := Evaluate(in).Endpoint; got != in.Memcached.Status.Endpoint {
		t.Errorf("without a Pod, the endpoint is %s", got)
	}
	in.Snapshot.Pods = []observe.Pod{{Name: "cache-1"}}
	if got := Evaluate(in).Endpoint; got != in.Invalid.Endpoint {
		t.Errorf("with a Pod that listens there, the endpoint is %s", got)
	}
}

// TestTheDeadlineDoesNotCountTheTimeWithoutASecret: Pods could not start in that time.
func TestTheDeadlineDoesNotCountTheTimeWithoutASecret(t *testing.T) {
	in := unschedulable()
	in.Snapshot.TLS = &secrets.State{Name: "tls", Missing: true}
	in = after(after(in, time.Hour), time.Minute)
	if got := reasonAndType(in.Memcached.Status); got != "Reconciling SecretNotFound" {
		t.Fatalf("without the Secret, it is %s", got)
	}
	if Differs(in.Memcached.Status, Evaluate(in)) {
		t.Error("the same status is written again")
	}
	in.Snapshot.TLS = &secrets.State{Name: "tls"}
	in = after(in, deadline-time.Second)
	if got := reasonAndType(Evaluate(in)); got != isReconciling {
		t.Errorf("a second before the deadline has passed since, it is %s", got)
	}
	if got := reasonAndType(Evaluate(after(in, time.Second))); got != isStalled {
		t.Errorf("once it has passed, it is %s", got)
	}
}
