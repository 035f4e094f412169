//go:build e2e

// Package arch tests the images of all architectures on a machine of one architecture. The Dockerfile and `make image`
// must make the same programs, and the programs of the operator, the agent, snapshots and memcached must run, if
// necessary under an emulator.
package arch

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/cluster/preflight"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/progress"
)

const version = "0.1.0-arch"

// TestMain sets these variables, for all tests.
var (
	root          string // of the repository
	host          string // of the registry
	operatorIndex string // what make image pushes, by digest
	agentIndex    string // likewise
	agentVersion  string
	snapshotIndex string // likewise, of the operator's version
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	//nolint:forbidigo // TestMain has no test to take a context from.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	host = strings.TrimPrefix(server.URL, "http://")
	if err := prepare(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "prepare:", err)
		return 1
	}
	return m.Run()
}

func prepare(ctx context.Context) (err error) {
	if root, err = builds.Root(); err != nil {
		return err
	}
	if err := preflight.Ensure(ctx, preflight.Architectures(), true); err != nil {
		return err
	}
	var agent oci.Program
	if agent, agentVersion, err = oci.Agent(root); err != nil {
		return err
	}
	if operatorIndex, err = pushIndex(ctx, oci.Operator(root, version), "memcached-operator:"+version); err != nil {
		return err
	}
	if agentIndex, err = pushIndex(ctx, agent, "memcached-agent:"+agentVersion); err != nil {
		return err
	}
	snapshotIndex, err = pushIndex(ctx, oci.Snapshot(root, version), "memcached-snapshot:"+version)
	return err
}

func pushIndex(ctx context.Context, program oci.Program, name string) (ref string, err error) {
	err = progress.Stage(ctx, "The index "+name, func(update func(string)) error {
		indexes, err := oci.BuildAll(ctx, oci.Platforms(), update, program)
		if err != nil {
			return err
		}
		ref, err = oci.Push(ctx, indexes[0], host+"/"+name)
		return err
	})
	return ref, err
}
