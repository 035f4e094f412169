//go:build e2e

package resize_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
	"github.com/example-inc/memcached-operator/operator/internal/memcached"
	"github.com/example-inc/memcached-operator/test/pressure"
)

// container is a memcached in a container, whose memory is changed as the operator would change it.
type container struct {
	*followed
	pressure.Group

	settings memcached.Settings
}

// becomes changes the memory for items. Before this memory grows, becomes raises the memory limit of the container,
// which is never lowered.
func (c *container) becomes(t *testing.T, mebibytes int64) {
	t.Helper()
	const mostClasses = 63
	g := gomega.NewWithT(t)
	if c.settings.ItemMemory = mebibytes * mib; c.settings.ItemMemory > c.settings.FormerMemory {
		c.settings.FormerMemory = c.settings.ItemMemory
		g.Expect(c.SetLimit(memcached.ContainerMemory(c.settings))).To(gomega.Succeed())
	}
	c.wanted.Store(mebibytes * mib)
	g.Eventually(func(g gomega.Gomega) {
		g.Expect(c.stats(t, "")["limit_maxbytes"]).To(gomega.Equal(strconv.FormatInt(mebibytes*mib, 10)))
		taken, _ := strconv.ParseInt(c.stats(t, "slabs")["total_malloced"], 10, 64)
		g.Expect(taken).To(gomega.BeNumerically("<=", (mebibytes+mostClasses)*mib))
	}).WithTimeout(2 * time.Minute).WithPolling(50 * time.Millisecond).Should(gomega.Succeed())
}

// TestTheMemoryLimitSufficesAfterManyChanges lets clients use a memcached that grows and shrinks again and again. Then
// memcached grows once more, and is filled with the largest load that it accepts.
func TestTheMemoryLimitSufficesAfterManyChanges(t *testing.T) {
	const changes, most = 20, 192
	c := &container{settings: memcached.Settings{ItemMemory: 64 * mib, MaxConnections: 1024, Threads: 4, MaxItemSize: mib}}
	var err error
	if c.Group, err = pressure.NewGroup(fmt.Sprint("memcached-resized-", os.Getpid()), memcached.ContainerMemory(c.settings)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Remove(); err != nil {
			t.Error(err)
		}
	})
	t.Setenv("MALLOC_MMAP_THRESHOLD_", "524288")
	c.followed = follow(t, memcachedtest.StartBy(t, c.Command, memoryOf(64), "--conn-limit=1100", "--threads=4",
		"--extended=worker_logbuf_size=8192,watcher_logbuf_size=16384"))
	load := pressure.Load{Address: c.Address, ItemMemory: most * mib, Connections: 100, MaxItemSize: mib}
	used := inUse(t, load)
	for n := range changes {
		c.becomes(t, []int64{most, 64, 128, 32}[n%4])
	}
	used()
	if resident := c.resident(t); resident > 32+40 { // The allocator must have returned the freed memory.
		t.Errorf("%d MiB are resident", resident)
	}
	c.becomes(t, most)

	load.ItemMemory, load.Connections = c.settings.ItemMemory, int(c.settings.MaxConnections)
	c.connect(t).send(t, 1, func(int) string { return "stats reset\r\n" })
	if _, err := load.Bear(t.Context()); err != nil {
		t.Error(err)
	}
	kills, killsErr := c.Kills()
	limit, limitErr := c.Limit()
	t.Logf("limit %d MiB, resident %d MiB, %d killed", limit/mib, c.resident(t), kills)
	if err := errors.Join(killsErr, limitErr); err != nil || kills > 0 {
		t.Errorf("%d were killed: %v", kills, err)
	}
}

// inUse lets clients use a memcached until the returned function is called.
func inUse(t *testing.T, load pressure.Load) (end func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		var err error
		for err == nil && ctx.Err() == nil {
			_, err = load.Use(ctx)
		}
		done <- err
	}()
	return func() {
		stop()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}
