// Package progress shows what a long command does. On a terminal, it keeps one line up to date. Elsewhere it prints
// plain lines, and repeats them at intervals, so that a build server's log shows progress, too.
package progress

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

var frames = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

type contextKey struct{}

// WithOutput makes the stages that run with the context write plain lines to out, instead of to standard error.
func WithOutput(ctx context.Context, out io.Writer) context.Context {
	return context.WithValue(ctx, contextKey{}, out)
}

// output returns where stages are written, and whether that is a terminal, on which lines can be overwritten.
func output(ctx context.Context) (out io.Writer, terminal bool) {
	if out, isSet := ctx.Value(contextKey{}).(io.Writer); isSet {
		return out, false
	}
	return os.Stderr, term.IsTerminal(int(os.Stderr.Fd()))
}

// Note writes a line between stages.
func Note(ctx context.Context, format string, args ...any) {
	out, _ := output(ctx)
	fmt.Fprintf(out, format+"\n", args...)
}

// Stage runs work, and prints the title, whether work succeeded, and how long it took. Work calls update to report
// details. Only one stage runs at a time.
func Stage(ctx context.Context, title string, work func(update func(string)) error) error {
	out, terminal := output(ctx)
	started := time.Now()
	var detail atomic.Value
	detail.Store("")
	line := func(mark rune) string {
		line := fmt.Sprintf("%c %-34s %8s", mark, title, Elapsed(time.Since(started)))
		if detail := detail.Load(); detail != "" {
			line += "  " + detail.(string)
		}
		return line
	}
	interval, before, after := 20*time.Second, "", "\n"
	if terminal {
		interval, before, after = 100*time.Millisecond, "\r\033[K", ""
	}
	done := make(chan error)
	go func() { done <- work(func(text string) { detail.Store(text) }) }()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for frame := 0; ; frame++ {
		select {
		case err := <-done:
			mark := '✗'
			if err == nil {
				mark = '✓'
				detail.Store("") // The last detail is of interest only if the stage failed.
			}
			fmt.Fprint(out, before, line(mark), "\n")
			return err
		case <-ticker.C:
			mark := '…'
			if terminal {
				mark = frames[frame%len(frames)]
			}
			fmt.Fprint(out, before, line(mark), after)
		}
	}
}

// Elapsed formats a duration as 0.4s, 12s or 3m12s.
func Elapsed(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}
