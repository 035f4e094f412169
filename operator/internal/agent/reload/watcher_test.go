package reload

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
)

// subject is a Subject that records which of its functions are called.
type subject struct {
	version             string
	read, reload, check error
	panics              bool
	calls               []string
}

func (s *subject) Read() (string, error) {
	if s.panics {
		panic("unforeseen")
	}
	return s.version, s.read
}

func (s *subject) Reload(context.Context) error {
	s.calls = append(s.calls, "reload "+s.version)
	return s.reload
}

func (s *subject) Check(context.Context) error {
	s.calls = append(s.calls, "check "+s.version)
	return s.check
}

func newWatcher(s Subject) (*Watcher, *bytes.Buffer) {
	log := &bytes.Buffer{}
	return &Watcher{Subject: s, Interval: time.Millisecond, Log: slog.New(slog.NewTextHandler(log, nil))}, log
}

func TestAWatcher(t *testing.T) {
	failure := errors.New("not yet")
	type look struct {
		change func(*subject)
		want   string // the functions that are called
		inSync bool
	}
	none := func(*subject) {}
	to := func(version string) func(*subject) { return func(s *subject) { s.version = version } }
	tests := map[string][]look{
		"signals a version, checks it at the next step, and is quiet from then on": {
			{none, "reload 1", false}, {none, "check 1", true}, {none, "", true},
			{to("2"), "reload 2", false}, {none, "check 2", true}, {none, "", true},
		},
		"signals until the signal succeeds": {
			{func(s *subject) { s.reload = failure }, "reload 1", false}, {none, "reload 1", false},
			{func(s *subject) { s.reload = nil }, "reload 1", false}, {none, "check 1", true},
		},
		"signals until the version is in use": {
			{func(s *subject) { s.check = failure }, "reload 1", false}, {none, "check 1, reload 1", false}, {none, "check 1, reload 1", false},
			{func(s *subject) { s.check = nil }, "check 1", true}, {none, "", true},
		},
		"signals a former version, too, when it is mounted again": {
			{none, "reload 1", false}, {none, "check 1", true}, {to("2"), "reload 2", false}, {to("1"), "reload 1", false}, {none, "check 1", true},
		},
		"does not signal what memcached could not use": {
			{none, "reload 1", false}, {none, "check 1", true},
			{func(s *subject) { s.read = failure }, "", false}, {none, "", false},
			{func(s *subject) { s.read = nil }, "", true},
		},
		"lives on after a panic": {
			{func(s *subject) { s.panics = true }, "", false}, {func(s *subject) { s.panics = false }, "reload 1", false}, {none, "check 1", true},
		},
	}
	for name, looks := range tests {
		t.Run(name, func(t *testing.T) {
			s := &subject{version: "1"}
			watcher, _ := newWatcher(s)
			reloaded := int64(0)
			for i, look := range looks {
				s.calls = nil
				look.change(s)
				watcher.look(t.Context())
				if got := strings.Join(s.calls, ", "); got != look.want || watcher.InSync() != look.inSync {
					t.Errorf("look %d: %q, in sync %t; want %q, %t", i+1, got, watcher.InSync(), look.want, look.inSync)
				}
				if s.reload == nil {
					reloaded += int64(strings.Count(look.want, "reload"))
				}
			}
			if watcher.Reloads() != reloaded {
				t.Errorf("%d reloads, want %d", watcher.Reloads(), reloaded)
			}
		})
	}
}

func TestAReasonIsLoggedOnce(t *testing.T) {
	s := &subject{version: "1", read: errors.New("no colon")}
	watcher, log := newWatcher(s)
	for range 3 {
		watcher.look(t.Context())
	}
	s.read = errors.New("no user")
	watcher.look(t.Context())
	s.read = nil
	for range 3 {
		watcher.look(t.Context())
	}
	var got []string
	for line := range strings.Lines(log.String()) {
		_, line, _ = strings.Cut(line, "msg=")
		got = append(got, strings.TrimSpace(line))
	}
	want := []string{
		`"Memcached does not use the mounted Secret" reason="no colon"`,
		`"Memcached does not use the mounted Secret" reason="no user"`,
		`"Memcached does not use the mounted Secret" reason="memcached was instructed to load the Secret; the next check shows whether it did"`,
		`"Memcached uses the mounted Secret"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	watcher, _ := newWatcher(&subject{version: "1"})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { watcher.Run(ctx); close(ended) }()
	gomega.NewWithT(t).Eventually(watcher.InSync).WithTimeout(2 * time.Minute).Should(gomega.BeTrue())
	cancel()
	gomega.NewWithT(t).Eventually(ended).WithTimeout(2 * time.Minute).Should(gomega.BeClosed())
}
