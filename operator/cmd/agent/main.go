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
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/example-inc/memcached-operator/operator/internal/agent"
	"github.com/example-inc/memcached-operator/operator/internal/agent/supervisor"
)

// version is the agent's own: a release of the operator alone does not change it.
//
//go:embed VERSION
var version string

const usage = `The memcached agent reloads users and certificates, and exports metrics.

Usage:
  agent [flags]

Example, beside a memcached that was started with --auth-file=/run/memcached/auth:
  agent --auth-dir=/etc/memcached/auth --auth-file=/run/memcached/auth

Flags:
`

func main() {
	debug.SetGCPercent(25) // CPU is available, memory belongs to the cache
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
		log.Error("The memcached agent ended", "error", err)
		os.Exit(1)
	}
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
