package slot

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

var begin = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// scene is a Follower with a copier that does nothing by itself.
type scene struct {
	*Follower
	now    time.Time
	mutex  sync.Mutex
	calls  []string
	refuse error // what Empty and End return
	copied func()
	finish chan error

	lostCopy string // what Lost returns
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{now: begin, finish: make(chan error)}
	s.Follower = &Follower{
		File: filepath.Join(t.TempDir(), "handoff"), Copier: s, Log: slog.New(slog.DiscardHandler),
		wake: make(chan struct{}, 1),
	}
	t.Cleanup(func() { s.job.stop() })
	return s
}

// call records a call. Repetitions of a call until it succeeds count as one.
func (s *scene) call(name string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.calls) == 0 || s.calls[len(s.calls)-1] != name {
		s.calls = append(s.calls, name)
	}
}

func (s *scene) forget() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.calls = nil
}

func (s *scene) run(ctx context.Context, name string, copied func()) error {
	s.copied = copied
	s.call(name)
	select {
	case err := <-s.finish:
		return err
	case <-ctx.Done():
		s.call("stopped")
		return ctx.Err()
	}
}

func (s *scene) Copy(ctx context.Context, order instruction.Instruction, copied func()) error {
	return s.run(ctx, "copy "+order.From, copied)
}

func (s *scene) Resume(ctx context.Context, order instruction.Instruction) error {
	return s.run(ctx, "resume "+order.From, nil)
}

func (s *scene) Hurry(within time.Duration) { s.call("hurry " + within.String()) }

func (s *scene) Lost() string { return s.lostCopy }

func (s *scene) Empty(context.Context) error {
	s.call("empty")
	return s.refuse
}

func (s *scene) End(context.Context) error {
	s.call("end")
	return s.refuse
}

// order returns a step's event: the operator writes an instruction with this role.
func order(role instruction.Role, changes ...func(*instruction.Instruction)) func(*testing.T, *scene) {
	i := instruction.Instruction{Slot: "shop-0", Role: role, Rate: 1, Since: begin, End: 30}
	if role == instruction.Receive || role == instruction.Moved {
		i.From = "10.0.0.1"
	}
	if role == instruction.Send {
		scaled(&i)
	}
	for _, change := range changes {
		change(&i)
	}
	return write(i.Encode())
}

func write(content string) func(*testing.T, *scene) {
	return func(t *testing.T, s *scene) {
		t.Helper()
		if err := os.WriteFile(s.File, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func copied(_ *testing.T, s *scene)  { s.copied() }
func refuses(_ *testing.T, s *scene) { s.refuse = errors.New("busy") }
func obeys(_ *testing.T, s *scene)   { s.refuse = nil }
func loses(_ *testing.T, s *scene)   { s.lostCopy = handoff.LogLinesLost }
func nothing(*testing.T, *scene)     {}

// ends returns a step's event: the copier ends with this error. The next call of look notices that.
func ends(err error) func(*testing.T, *scene) {
	return func(_ *testing.T, s *scene) {
		s.finish <- err
		<-s.job.ended
	}
}

func after(seconds int) func(*testing.T, *scene) {
	return func(_ *testing.T, s *scene) { s.now = s.now.Add(time.Duration(seconds) * time.Second) }
}

func later(i *instruction.Instruction)    { i.Since = begin.Add(time.Minute) }
func faster(i *instruction.Instruction)   { i.Rate = 2 }
func hurried(i *instruction.Instruction)  { i.Rate, i.Within = 2, 90 }
func grown(i *instruction.Instruction)    { i.Memory = 128 << 20 }
func recorded(i *instruction.Instruction) { i.Record.CopySeconds = 7 }
func other(i *instruction.Instruction)    { i.From = "10.0.0.2" }

// step is an event, the calls of the copier that follow it, and whether the agent is ready afterwards.
type step struct {
	event func(*testing.T, *scene)
	want  string
}

const (
	serve, cold, send     = instruction.Serve, instruction.Cold, instruction.Send
	receive, moved, leave = instruction.Receive, instruction.Moved, instruction.Leave
)

var lost = &handoff.Failure{Reason: handoff.LogLinesLost, Err: errors.New("5 lines"), AfterCopied: true}

var unused = &handoff.Failure{Reason: handoff.NewEnded, Err: errors.New("EOF")}

var outdated = &handoff.Failure{Reason: handoff.NewUnreachable, Err: errors.New("EOF"), AfterCopied: true, NotEmptied: true}

func TestRoles(t *testing.T) {
	tests := map[string][]step{
		"no file":                           {{nothing, "waits:"}},
		"no instruction":                    {{write(""), "waits:"}},
		"an instruction that can't be read": {{write("{"), "waits:"}, {order(serve), "ready:"}, {write("{"), "ready:"}},
		"a role of a newer operator":        {{order(serve), "ready:"}, {order("merge"), "ready:"}},
		"only the operator's record":        {{write(`{"record":{"copySeconds":1}}`), "waits:"}},
		"a slot without a copy":             {{order(serve), "ready:"}},
		"a slot without keys":               {{order(cold), "ready: empty"}, {nothing, "ready:"}, {order(serve), "ready:"}},
		"a slot without keys, once more":    {{order(cold), "ready: empty"}, {order(cold, later), "ready: empty"}},
		"a memcached that starts later":     {{refuses, "waits:"}, {order(cold), "waits: empty"}, {obeys, "ready: empty"}},
		"an instruction that is taken away": {{order(serve), "ready:"}, {write(""), "waits:"}},
		"an instruction that is restored":   {{order(serve), "ready:"}, {write(""), "waits:"}, {order(serve), "ready:"}},
		"a handoff that is taken away": {
			{order(receive), "waits: copy 10.0.0.1"}, {copied, "ready:"}, {order(moved), "ready:"}, {write(""), "waits: stopped"},
			{order(serve), "ready: empty"},
		},
		"a handoff that had ended when its instruction was taken away": {
			{order(receive), "waits: copy 10.0.0.1"}, {copied, "ready:"}, {order(moved), "ready:"}, {ends(nil), "ready:"},
			{write(""), "waits:"}, {order(serve), "ready:"},
		},
		"a copy in progress":                {{order(receive), "waits: copy 10.0.0.1"}, {nothing, "waits:"}},
		"a copy whose progress is recorded": {{order(receive), "waits: copy 10.0.0.1"}, {order(receive, recorded), "waits:"}},
		"a copy, then another rate":         {{order(receive), "waits: copy 10.0.0.1"}, {order(receive, faster), "waits:"}},
		"a copy, then other memory":         {{order(receive), "waits: copy 10.0.0.1"}, {order(receive, grown), "waits:"}},
		"a copy whose old Pod is deleted": {
			{order(receive), "waits: copy 10.0.0.1"}, {order(receive, hurried), "waits: hurry 1m30s"}, {nothing, "waits:"}, {copied, "ready:"},
			{order(moved), "ready:"},
		},
		"a handoff that lost its keys in the end": {
			{order(receive), "waits: copy 10.0.0.1"}, {copied, "ready:"}, {order(moved), "ready:"}, {loses, "ready:"},
			{order(serve), "the copy failed: LogLinesLost: the keys that were copied are lost"},
		},
		"a copy that is taken away":          {{order(receive), "waits: copy 10.0.0.1"}, {write(""), "waits: stopped"}, {order(serve), "ready: empty"}},
		"a copy, but the slot is given cold": {{order(receive), "waits: copy 10.0.0.1"}, {order(cold), "ready: stopped empty"}, {order(serve), "ready:"}},
		"a copy, but the slot is given":      {{order(receive), "waits: copy 10.0.0.1"}, {order(serve), "ready: stopped empty"}},
		"a handoff of which the kubelet left out the middle": {
			{order(receive), "waits: copy 10.0.0.1"}, {copied, "ready:"}, {order(serve), "ready: stopped"},
		},
		"a slot that moved while the new memcached was not used yet, and failed": {
			{order(receive), "waits: copy 10.0.0.1"}, {copied, "ready:"}, {order(moved), "ready:"},
			{ends(unused), "ready: empty resume 10.0.0.1"}, {nothing, "ready:"},
		},
		"a handoff": {
			{order(receive), "waits: copy 10.0.0.1"}, {copied, "ready:"}, {order(moved, later), "ready:"},
			{ends(nil), "ready:"}, {order(serve), "ready:"},
		},
		"a handoff whose old Pod is deleted before its memcached": {
			{order(receive), "waits: copy 10.0.0.1"}, {copied, "ready:"}, {order(moved), "ready:"}, {order(serve), "ready: stopped"},
		},
		"the old memcached ends before the slot moves": {
			{order(receive), "waits: copy 10.0.0.1"}, {copied, "ready:"}, {ends(nil), "ready:"}, {order(moved), "ready:"},
		},
		"another attempt": {
			{order(receive), "waits: copy 10.0.0.1"}, {copied, "ready:"}, {order(receive, later), "waits: stopped copy 10.0.0.1"},
			{copied, "ready:"},
		},
		"from another Pod": {
			{order(receive), "waits: copy 10.0.0.1"}, {order(receive, other), "waits: stopped copy 10.0.0.2"},
		},
		"a restart after the move":               {{order(moved), "ready: empty resume 10.0.0.1"}, {ends(nil), "ready:"}, {order(serve), "ready:"}},
		"a slot that moves before all is copied": {{order(receive), "waits: copy 10.0.0.1"}, {order(moved), "ready: stopped empty resume 10.0.0.1"}},
		"a slot that moved from another Pod": {
			{order(receive), "waits: copy 10.0.0.1"}, {copied, "ready:"}, {order(moved, other), "ready: stopped empty resume 10.0.0.2"},
		},
		"a restart after the move, with a memcached that starts later": {
			{refuses, "waits:"}, {order(moved), "ready: empty"}, {order(serve), "waits: empty"}, {obeys, "ready: empty"},
		},
		"a cold slot whose old Pod still serves": {
			{order(cold), "ready: empty"}, {order(moved), "ready: empty resume 10.0.0.1"}, {order(serve), "ready: stopped"},
		},
		"a failure after the copy": {
			{order(receive), "waits: copy 10.0.0.1"}, {copied, "ready:"}, {ends(lost), "ready:"},
			{order(moved), "ready:"}, {order(serve), "ready:"},
		},
		"a failure after the copy that leaves outdated keys": {
			{order(moved), "ready: empty resume 10.0.0.1"}, {ends(outdated), "ready: empty"}, {nothing, "ready:"},
		},
		"a slot given away": {
			{order(serve), "ready:"}, {order(leave), "ready:"}, {after(29), "ready:"}, {after(1), "ready: end"}, {after(99), "ready:"},
		},
		"a slot given away, then kept": {{order(leave), "ready:"}, {after(29), "ready:"}, {order(serve), "ready:"}, {after(99), "ready:"}},
		"a memcached that is not found": {
			{order(leave), "ready:"}, {refuses, "ready:"}, {after(30), "ready: end"}, {obeys, "ready: end"}, {nothing, "ready:"},
		},
		"a slot given away while its old Pod still serves": {
			{order(moved), "ready: empty resume 10.0.0.1"}, {order(leave), "ready:"}, {ends(lost), "ready:"}, {after(30), "ready: end"},
		},
		"a copy that is no longer wanted": {{order(receive), "waits: copy 10.0.0.1"}, {order(leave), "ready: stopped"}, {after(30), "ready: end"}},
	}
	maps.Copy(tests, rolesWithScale)
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			for i, step := range steps {
				step.event(t, s)
				gomega.NewWithT(t).Eventually(func() string { return s.look(t) }).WithPolling(time.Millisecond).
					Should(gomega.Equal(step.want), "step %d", i)
				s.forget()
			}
		})
	}
}

// look lets the follower take a step. It returns the error of the step, or whether the agent is ready, with the calls
// of the copier.
func (s *scene) look(t *testing.T) string {
	t.Helper()
	if err := s.step(t.Context(), s.now); err != nil {
		return err.Error()
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	state := "ready:"
	if s.Ready() != nil {
		state = "waits:"
	}
	return strings.Join(append([]string{state}, s.calls...), " ")
}
