package slot

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/report"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

func TestACopyThatFailsEndsTheAgent(t *testing.T) {
	tests := map[string]struct {
		err  error
		want instruction.Failure
	}{
		"lines are lost": {
			&handoff.Failure{Reason: handoff.LogLinesLost, Err: errors.New("5 lines")},
			instruction.Failure{Reason: "LogLinesLost", Error: "5 lines"},
		},
		"memcached is not empty": {
			&handoff.Failure{Reason: handoff.OldEnded, Err: errors.New("EOF"), NotEmptied: true},
			instruction.Failure{Reason: "OldEnded", Error: "EOF; memcached could not be emptied"},
		},
		"another error": {errors.New("odd"), instruction.Failure{Reason: "Internal", Error: "odd"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			order(receive)(t, s)
			ended := make(chan error, 1)
			go func() { ended <- s.Run(t.Context()) }()
			s.finish <- test.err
			failure, ok := report.FailureOf(<-ended)
			if !ok || failure != test.want {
				t.Errorf("%v %+v, want %+v", ok, failure, test.want)
			}
		})
	}
}

// TestACopyThatNobodyUsedEndsTheAgent: if the handoff fails after all keys were copied, but before a client used them,
// the agent ends, because the old memcached still has all keys.
func TestACopyThatNobodyUsedEndsTheAgent(t *testing.T) {
	s := newScene(t)
	g := gomega.NewWithT(t)
	order(receive)(t, s)
	g.Eventually(func() string { return s.look(t) }).WithPolling(time.Millisecond).Should(gomega.Equal("waits: copy 10.0.0.1"))
	copied(t, s)
	s.finish <- unused
	var failure instruction.Failure
	g.Eventually(func() (ok bool) {
		failure, ok = report.FailureOf(s.step(t.Context(), time.Now()))
		return ok
	}).WithPolling(time.Millisecond).Should(gomega.BeTrue())
	if want := (instruction.Failure{Reason: "NewEnded", Error: "EOF"}); failure != want {
		t.Errorf("%+v, want %+v", failure, want)
	}
}

func TestTheEndOfTheAgentIsNoFailure(t *testing.T) {
	s := newScene(t)
	order(receive)(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	g := gomega.NewWithT(t)
	g.Eventually(func() []string {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		return s.calls
	}).Should(gomega.Equal([]string{"copy 10.0.0.1"}))
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, ok := report.FailureOf(errors.New("address already in use")); ok {
		t.Error("every error is a failed handoff")
	}
}

func TestARepeatedProblemIsLoggedOnce(t *testing.T) {
	s := newScene(t)
	log := &bytes.Buffer{}
	s.Log = slog.New(slog.NewTextHandler(log, nil))
	for _, content := range []string{"{", "{", "{}", "{"} {
		write(content)(t, s)
		s.look(t)
		s.look(t)
	}
	if lines := strings.Count(log.String(), "can't be read"); lines != 2 {
		t.Errorf("%d lines:\n%s", lines, log)
	}
}
