// The memcached agent, which runs beside memcached in its Pod.
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
	"github.com/example-inc/memcached-operator/operator/internal/agent/slot"
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

Example, beside a memcached that was started with --auth-file=/run/memcached/auth:
  agent --auth-dir=/etc/memcached/auth --auth-file=/run/memcached/auth

Flags:
`

func main() {
	debug.SetGCPercent(25) // CPU is available, memory belongs to the cache
	runtime.GOMAXPROCS(1)  // a handoff wakes it a thousand times a second, and a second processor would spin each time
	options, end, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	if end {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	log.Info("Starting the memcached agent", "version", strings.TrimSpace(version))
	if err := agent.Run(ctx, options, strings.TrimSpace(version), log); err != nil {
		os.Exit(exitCode(err, log))
	}
}

// terminationLog is where Kubernetes reads the termination message. A container has the file from its start.
const terminationLog = "/dev/termination-log"

// exitCode logs why the agent ended. The operator reads the reason of a failed handoff from the termination message or,
// where the file does not exist, from the last line of the log.
func exitCode(err error, log *slog.Logger) int {
	failure, ok := slot.FailureOf(err)
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

// parse returns the options, and whether the version or the help was printed and nothing is left to do. It returns an
// error for an invalid flag: pflag would exit with the code of a panic, after which the supervisor would restart the
// agent.
func parse(arguments []string) (options *agent.Options, end bool, err error) {
	options = agent.NewOptions()
	options.Restarts, _ = strconv.Atoi(os.Getenv(supervisor.RestartsEnv)) // none without a supervisor
	flags := pflag.NewFlagSet("agent", pflag.ContinueOnError)
	options.AddFlags(flags)
	showVersion := flags.Bool("version", false, "Print the version and exit.")
	flags.Usage = func() { fmt.Fprint(os.Stderr, usage, flags.FlagUsages()) }
	err = flags.Parse(arguments)
	if errors.Is(err, pflag.ErrHelp) {
		return nil, true, nil
	}
	if err == nil && *showVersion {
		fmt.Println(strings.TrimSpace(version))
	}
	return options, *showVersion, err
}
