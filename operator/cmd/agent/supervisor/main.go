// The supervisor of the memcached agent: it restarts the agent after a crash.
package main

import (
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/supervisor"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "Usage: supervisor PROGRAM [ARGUMENT...]")
		os.Exit(1)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	s := supervisor.Supervisor{Command: os.Args[1:], Signals: signals, Pause: time.Second, Log: log}
	os.Exit(s.Run())
}
