package reload

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
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
		name, err := os.ReadFile(filepath.Join(proc, entry.Name(), "comm"))
		if err == nil && strings.TrimSuffix(string(name), "\n") == "memcached" {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
