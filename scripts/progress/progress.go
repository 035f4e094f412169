// Package progress tells people what a long command is doing: a live line on a terminal, plain
// lines with a heartbeat elsewhere, so that a log of a build server shows life too.
package progress

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

const (
	frameInterval = 100 * time.Millisecond
	heartbeat     = 20 * time.Second
)

var frames = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

type contextKey struct{}

// reporter is where stages are written. Only a terminal gets lines that are written over.
type reporter struct {
	out  io.Writer
	live bool
}

// WithOutput makes the stages run under ctx write plain lines to out instead of standard error.
func WithOutput(ctx context.Context, out io.Writer) context.Context {
	return context.WithValue(ctx, contextKey{}, reporter{out: out})
}

func from(ctx context.Context) reporter {
	if r, ok := ctx.Value(contextKey{}).(reporter); ok {
		return r
	}
	return reporter{out: os.Stderr, live: term.IsTerminal(int(os.Stderr.Fd()))}
}

// Stage runs work under a title and reports how it ended and how long it took. Through update the
// work says what it is at just now. One stage runs at a time.
func Stage(ctx context.Context, title string, work func(update func(string)) error) error {
	s := &stage{reporter: from(ctx), title: title, started: time.Now()}
	stop := s.animate()
	err := work(s.update)
	stop()
	s.finish(err)
	return err
}

// Note writes one line between stages.
func Note(ctx context.Context, format string, args ...any) {
	fmt.Fprintf(from(ctx).out, format+"\n", args...)
}

type stage struct {
	reporter
	title   string
	started time.Time

	mu     sync.Mutex
	detail string
}

func (s *stage) update(detail string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.detail = detail
}

// animate shows the stage's line until the function it returns is called.
func (s *stage) animate() (stop func()) {
	interval := heartbeat
	if s.live {
		interval = frameInterval
	}
	ticker := time.NewTicker(interval)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for frame := 0; ; frame++ {
			select {
			case <-done:
				return
			case <-ticker.C:
				s.show(frames[frame%len(frames)])
			}
		}
	})
	return func() {
		ticker.Stop()
		close(done)
		wg.Wait()
	}
}

func (s *stage) show(frame rune) {
	if s.live {
		fmt.Fprintf(s.out, "\r\033[K%c %s", frame, s.line())
		return
	}
	fmt.Fprintf(s.out, "… %s\n", s.line())
}

func (s *stage) finish(err error) {
	if s.live {
		fmt.Fprint(s.out, "\r\033[K")
	}
	mark := "✓"
	if err != nil {
		mark = "✗"
	} else {
		s.update("") // what it was at last is of interest only when it failed
	}
	fmt.Fprintf(s.out, "%s %s\n", mark, s.line())
}

func (s *stage) line() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := fmt.Sprintf("%-34s %8s", s.title, Elapsed(time.Since(s.started)))
	if s.detail != "" {
		line += "  " + s.detail
	}
	return line
}

// Elapsed writes a duration as people read it: 0.4s, 12s, 3m12s.
func Elapsed(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}
