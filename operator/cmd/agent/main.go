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
	"github.com/example-inc/memcached-operator/operator/internal/agent/report"
	"github.com/example-inc/memcached-operator/operator/internal/agent/supervisor"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// version is the agent's own: a release of the operator alone does not change it.
//
//go:embed VERSION
var version string

const usage = `The memcached agent reloads users and certificates, exports metrics, and hands over keys between Pods.

Usage:
  agent [flags]
  agent end [flags]    the preStop hook: lets the agent next to it end memcached, once another Pod has the slot

Example, next to a memcached that was started with --auth-file=/run/memcached/auth:
  agent --auth-dir=/etc/memcached/auth --auth-file=/run/memcached/auth

Flags:
`

func main() {
	debug.SetGCPercent(25) // CPU is available, memory belongs to the cache
	runtime.GOMAXPROCS(1)  // a handoff wakes it a thousand times a second, and a second processor would spin each time
	options, run, err := parse(os.Args[1:])
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
	if err := run(ctx, options, log); err != nil {
		os.Exit(exitCode(err, log))
	}
}

// command is what the agent was started for.
type command func(context.Context, *agent.Options, *slog.Logger) error

func run(ctx context.Context, options *agent.Options, log *slog.Logger) error {
	log.Info("Starting the memcached agent", "version", strings.TrimSpace(version))
	return agent.Run(ctx, options, strings.TrimSpace(version), log)
}

func end(ctx context.Context, options *agent.Options, log *slog.Logger) error {
	err := agent.End(ctx, options)
	if err != nil {
		log.Error("The agent did not end memcached", "error", err)
	}
	return err
}

// terminationLog is where Kubernetes reads the termination message. A container has the file from its start.
const terminationLog = "/dev/termination-log"

// exitCode logs why the agent ended. The operator reads the reason of a failed handoff from the termination message or,
// where the file does not exist, from the last line of the log.
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

// parse returns the options and the command; none if the version or the help was printed and nothing is left to do. It
// returns an error for an invalid flag: pflag would exit with the code of a panic, after which the supervisor would
// restart the agent.
func parse(arguments []string) (options *agent.Options, chosen command, err error) {
	options = agent.NewOptions()
	options.Restarts, _ = strconv.Atoi(os.Getenv(supervisor.RestartsEnv)) // none without a supervisor
	flags := pflag.NewFlagSet("agent", pflag.ContinueOnError)
	options.AddFlags(flags)
	showVersion := flags.Bool("version", false, "Print the version and exit.")
	flags.Usage = func() { fmt.Fprint(os.Stderr, usage, flags.FlagUsages()) }
	err = flags.Parse(arguments)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	case *showVersion:
		fmt.Println(strings.TrimSpace(version))
		return options, nil, nil
	case flags.NArg() == 0:
		return options, run, nil
	case flags.NArg() == 1 && flags.Arg(0) == "end":
		return options, end, nil
	}
	return nil, nil, fmt.Errorf("unknown command %q: write end or none", strings.Join(flags.Args(), " "))
}
