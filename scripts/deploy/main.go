// Command deploy brings a kustomize build into a cluster and out of it again, by server-side
// apply and without kubectl. It backs make install, deploy, undeploy and uninstall.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Exit codes, those of kubectl diff. `go run` makes 1 of every failure: who needs to tell a
// difference from an error builds the program, or reads the error in the output.
const (
	exitDiffers = 1
	exitFailed  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log.SetLogger(logr.Discard()) // the report is for people; the libraries' logs are not
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	command := newCommand()
	command.SetArgs(args)
	command.SetOut(stdout)
	command.SetErr(stderr)
	switch err := command.ExecuteContext(ctx); {
	case err == nil:
		return 0
	case errors.Is(err, errDiffers):
		return exitDiffers
	default:
		fmt.Fprintln(stderr, "error:", err)
		return exitFailed
	}
}
