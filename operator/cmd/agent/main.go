// The memcached agent, which runs beside memcached in its Pod.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/example-inc/memcached-operator/operator/internal/agent"
)

// version is the agent's own: a release of the operator alone leaves it as it is.
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
	debug.SetGCPercent(25) // CPU is at hand, memory belongs to the cache
	version := strings.TrimSpace(version)
	options := agent.NewOptions()
	options.AddFlags(pflag.CommandLine)
	showVersion := pflag.Bool("version", false, "Print the version and end.")
	pflag.Usage = func() { fmt.Fprint(os.Stderr, usage, pflag.CommandLine.FlagUsages()) }
	pflag.Parse()
	if *showVersion {
		fmt.Println(version)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	log.Info("Starting the memcached agent", "version", version)
	if err := agent.Run(ctx, options, version, log); err != nil {
		log.Error("The memcached agent ended", "error", err)
		os.Exit(1)
	}
}
