// The memcached agent, which runs next to memcached in its Pod.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/example-inc/memcached-operator/operator/internal/agent"
	"github.com/example-inc/memcached-operator/operator/internal/agent/bootstrap"
	"github.com/example-inc/memcached-operator/operator/internal/agent/report"
	"github.com/example-inc/memcached-operator/operator/internal/agent/supervisor"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// version is the version of the agent. A release of the operator alone does not change it.
//
//go:embed VERSION
var version string

const usage = `The memcached agent reloads users and certificates, exports metrics, and hands over keys between Pods.

Usage:
  agent [flags]
  agent end [flags]          the preStop hook: makes the running agent end memcached once another Pod has the slot
  agent bootstrap [flags]    copies the keys of memcacheds outside of the cache into it: see agent bootstrap --help

Example, next to a memcached that was started with --auth-file=/run/memcached/auth:
  agent --auth-dir=/etc/memcached/auth --auth-file=/run/memcached/auth

Flags:
`

const bootstrapUsage = `Copies all keys of memcacheds outside of a cache into its slots, follows what clients change
there until the file of the phase says cutOver, and from then on keeps both sides consistent while clients move.

Usage:
  agent bootstrap [flags]

Example, from two servers into two slots:
  agent bootstrap --from=10.0.0.1:11211 --from=10.0.0.2:11211 --from-hash=Ketama \
    --to=shop-0.shop-slots.team.svc:11211 --to=shop-1.shop-slots.team.svc:11211 --to-hash=Ketama \
    --phase-file=/run/bootstrap/phase --state-file=/run/state/copied

Flags:
`

func main() {
	debug.SetGCPercent(25) // More collections cost CPU time, but save memory for the cache.
	runtime.GOMAXPROCS(1)  // A handoff wakes the agent a thousand times a second. A second processor would spin each time.
	run, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	if run == nil {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	if err := run(ctx, log); err != nil {
		os.Exit(exitCode(err, log))
	}
}

// command runs the task that the agent was started for.
type command func(context.Context, *slog.Logger) error

func run(options *agent.Options) command {
	return func(ctx context.Context, log *slog.Logger) error {
		log.Info("Starting the memcached agent", "version", release())
		return agent.Run(ctx, options, release(), log)
	}
}

func end(options *agent.Options) command {
	return func(ctx context.Context, log *slog.Logger) error {
		err := agent.End(ctx, options)
		if err != nil {
			log.Error("The agent did not end memcached", "error", err)
		}
		return err
	}
}

func copyInto(options *bootstrap.Options) command {
	return func(ctx context.Context, log *slog.Logger) error {
		log.Info("Starting the bootstrap of the cache", "version", release(), "from", options.From, "to", options.To)
		return bootstrap.Run(ctx, options, release(), log)
	}
}

func release() string { return strings.TrimSpace(version) }

// terminationLog is where Kubernetes reads the termination message. A container has the file from its start.
const terminationLog = "/dev/termination-log"

// exitCode logs why the agent ended. The operator reads the reason of a failed handoff from the termination message or,
// if that file does not exist, from the last line of the log.
func exitCode(err error, log *slog.Logger) int {
	failure, ok := report.FailureOf(err)
	if !ok {
		log.Error("The memcached agent ended", "error", err)
		return 1
	}
	log.Error("The handoff failed", "reason", failure.Reason, "error", failure.Error)
	if file, err := os.OpenFile(terminationLog, os.O_WRONLY|os.O_TRUNC, 0); err == nil {
		_, _ = file.WriteString(failure.Encode())
		_ = file.Close()
	}
	return instruction.ExitCode
}

// parse returns the command that the arguments request; nil if parse has printed the version or the help, and nothing
// is left to do. It returns an error for an invalid flag, because pflag itself would exit with the exit code of a
// panic, and the supervisor would restart the agent.
func parse(arguments []string) (command, error) {
	if len(arguments) > 0 && arguments[0] == "bootstrap" {
		options := bootstrap.NewOptions()
		options.Restarts = restarts()
		rest, done, err := parseFlags(bootstrapUsage, arguments[1:], options.AddFlags)
		switch {
		case done || err != nil:
			return nil, err
		case len(rest) > 0:
			return nil, fmt.Errorf("unknown arguments %q of bootstrap: it has only flags", strings.Join(rest, " "))
		}
		return copyInto(options), nil
	}
	options := agent.NewOptions()
	options.Restarts = restarts()
	rest, done, err := parseFlags(usage, arguments, options.AddFlags)
	switch {
	case done || err != nil:
		return nil, err
	case len(rest) == 0:
		return run(options), nil
	case len(rest) == 1 && rest[0] == "end":
		return end(options), nil
	}
	return nil, fmt.Errorf("unknown command %q: "+
		"write end or bootstrap as the first argument, or no command", strings.Join(rest, " "))
}

// restarts returns how often the supervisor restarted the agent; 0 without a supervisor.
func restarts() int {
	count, _ := strconv.Atoi(os.Getenv(supervisor.RestartsEnv))
	return count
}

// parseFlags returns the arguments that are no flags (rest), and whether it has printed the version or the help (done).
func parseFlags(usage string, arguments []string, add func(*pflag.FlagSet)) (rest []string, done bool, err error) {
	flags := pflag.NewFlagSet("agent", pflag.ContinueOnError)
	add(flags)
	showVersion := flags.Bool("version", false, "Print the version and exit.")
	flags.Usage = func() { fmt.Fprint(os.Stderr, usage, flags.FlagUsages()) }
	err = flags.Parse(arguments)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return nil, true, nil
	case err != nil:
		return nil, false, err
	case *showVersion:
		fmt.Println(release())
	}
	return flags.Args(), *showVersion, nil
}
