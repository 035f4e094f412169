package reload

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// hangUp sends SIGHUP to every visible memcached process.
func hangUp(proc string) error {
	pids, err := memcacheds(proc)
	if err != nil {
		return err
	}
	if len(pids) == 0 {
		return errors.New("no process named memcached is visible: the Pod needs shareProcessNamespace")
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGHUP); err != nil {
			return fmt.Errorf("SIGHUP to memcached, which has to run as the same user as the agent: %w", err)
		}
	}
	return nil
}

// endPoll is the interval at which the agent looks whether memcached has ended.
const endPoll = 50 * time.Millisecond

// EndInOrder sends SIGUSR1 to the memcached with this process id, and waits until memcached has sent the rest of its
// log and has ended. A SIGTERM would lose the end of the log, even if memcached got the SIGTERM before SIGUSR1.
func EndInOrder(ctx context.Context, proc string, pid int) error {
	if !IsMemcached(proc, pid) {
		return fmt.Errorf("the process %d is not memcached: the Pod needs shareProcessNamespace", pid)
	}
	if err := syscall.Kill(pid, syscall.SIGUSR1); err != nil {
		return fmt.Errorf("SIGUSR1 to memcached, which has to run as the same user as the agent: %w", err)
	}
	for IsMemcached(proc, pid) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("memcached has not ended yet: %w", ctx.Err())
		case <-time.After(endPoll):
		}
	}
	return nil
}

// IsMemcached reports whether a process is a memcached.
func IsMemcached(proc string, pid int) bool { return isMemcached(proc, strconv.Itoa(pid)) }

// memcacheds returns the processes whose program is named memcached.
func memcacheds(proc string) ([]int, error) {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if isMemcached(proc, entry.Name()) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

func isMemcached(proc, pid string) bool {
	name, err := os.ReadFile(filepath.Join(proc, pid, "comm"))
	return err == nil && strings.TrimSuffix(string(name), "\n") == "memcached"
}
