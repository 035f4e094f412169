package handoff

// Checks, before any key is removed, whether a copy from servers outside of the cache may begin.

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
)

const (
	// logLag is how late a line of memcached's log may arrive: memcached reads the log of an idle thread once a second. So
	// lines that an agent caused may arrive after that agent has ended.
	logLag = 1200 * time.Millisecond

	// listenFor is how long a log is read to find another agent. This is long enough, because the heartbeat of an agent
	// writes a line every few hundredths of a second.
	listenFor = 2 * logLag
)

// check returns an error if a copy must not begin. A copy between Pods of one cache needs no check, because the
// operator knows these Pods.
func (m Move) check(ctx context.Context) error {
	if !m.external {
		return nil
	}
	if err := m.alone(ctx); err != nil {
		return err
	}
	return m.distinct(ctx)
}

// alone returns an error if another agent copies keys to a target, or from it, because each agent would mistake the
// writes of the other for changes by clients. The other agent may run on a Node that Kubernetes does not reach any
// more, or may fill another cache.
func (m Move) alone(ctx context.Context) error {
	errs := make([]error, len(m.Targets))
	var group sync.WaitGroup
	for i, number := range m.Targets {
		group.Go(func() { errs[i] = m.Servers[number].listen(ctx) })
	}
	group.Wait()
	return errors.Join(errs...)
}

// listen returns an error if another agent uses a memcached.
func (m Member) listen(ctx context.Context) error {
	connection, err := m.Dial(ctx)
	if err != nil {
		return m.failure(err)
	}
	defer connection.Close()
	s := newStream(connection, newMarkers(), share(streamBuffer, streamBuffers, 1))
	if err := s.watch(connection); err != nil {
		return m.failure(err)
	}
	began := time.Now()
	s.others = func() error {
		if time.Since(began) < logLag {
			return nil
		}
		return otherAgent()
	}
	s.idle, s.unused = func() {}, func() bool { return true }
	s.changed = func([]byte) error { return nil }
	s.gap = func(error) error { return nil }
	if err := connection.SetReadDeadline(time.Now().Add(listenFor)); err != nil {
		return m.failure(err)
	}
	if err := s.run(); !errors.Is(err, os.ErrDeadlineExceeded) {
		return m.failure(err)
	}
	return ctx.Err()
}

func otherAgent() error {
	return &Failure{Reason: OtherAgent, Err: errors.New(
		"another agent copies keys from it or to it: an agent in a Pod that still runs, or one that fills another cache")}
}

// distinct returns an error if a source outside of the cache is also a target, because its keys would be removed. It
// stores a key in each target for a moment, and looks for these keys in the sources.
func (m Move) distinct(ctx context.Context) error {
	var names, questions []string
	for _, number := range m.Targets {
		target, key := m.Servers[number], markerPrefix+"same-"+rand.Text()[:10]
		names, questions = append(names, target.Name), append(questions, "mg "+key+"\r\n")
		if _, err := target.ask(ctx, "ms "+key+" 0 T60\r\n\r\n"); err != nil {
			return err
		}
		defer func() { _, _ = target.ask(ctx, "md "+key+" q\r\nmn\r\n") }() // If this fails, the key expires.
	}
	for _, number := range m.Sources {
		source := m.Servers[number]
		answers, err := source.ask(ctx, questions...)
		if err != nil {
			return err
		}
		if i := slices.Index(answers, "HD"); i >= 0 {
			return source.named(&Failure{Reason: SameServer, Err: fmt.Errorf("it is %s of this cache", names[i])})
		}
	}
	return nil
}

// ask sends commands over one connection, and returns the answers.
func (m Member) ask(ctx context.Context, commands ...string) (answers []string, err error) {
	connection, err := m.Dial(ctx)
	if err != nil {
		return nil, m.failure(err)
	}
	defer connection.Close()
	client := protocol.New(connection)
	for _, command := range commands {
		answer, err := client.Ask(ctx, command)
		if err != nil {
			return nil, errors.Join(ctx.Err(), m.failure(err))
		}
		answers = append(answers, answer)
	}
	return answers, nil
}
