//go:build e2e

package memcachedtest_test

import (
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
)

func TestAMemcachedStartsAndEnds(t *testing.T) {
	server := memcachedtest.Start(t)
	connection, err := net.Dial("tcp", server.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	server.Signal(t, syscall.SIGUSR1)
	select {
	case <-server.Ended():
	case <-time.After(2 * time.Minute):
		t.Error("memcached still runs 30 s after SIGUSR1")
	}
}
