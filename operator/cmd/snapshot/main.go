// The program that saves the keys of a cache in a bucket, and restores them.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	_ "golang.org/x/crypto/x509roots/fallback" // the CAs for the clouds' certificates, if the image has none
)

// version is set by the linker.
var version = "dev"

// memoryLimit is enough memory, unless items are larger than a few MiB. It is a soft limit: if the program needs more,
// it takes more, and does not fail.
const memoryLimit = 30 << 20

func main() {
	debug.SetGCPercent(50) // More collections cost CPU time, but save memory for the caches on the Node.
	debug.SetMemoryLimit(memoryLimit)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := newCommand(version).ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
