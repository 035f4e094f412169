// Package pressure makes a memcached use as much memory as it ever can, and reads from its control group how much that
// was.
package pressure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Group is a control group for memory, of version 1 or 2. Each container has such a group.
type Group struct {
	dir string
	v2  bool
}

const root = "/sys/fs/cgroup"

// memoryRoot returns the root of the control group hierarchy that accounts memory.
func memoryRoot() Group {
	v1 := filepath.Join(root, "memory")
	if _, err := os.Stat(v1); err == nil {
		return Group{dir: v1}
	}
	return Group{dir: root, v2: true}
}

// NewGroup creates a group with a limit in bytes, and without swap.
func NewGroup(name string, limit int64) (Group, error) {
	g := memoryRoot()
	if g.v2 {
		if err := g.write("cgroup.subtree_control", "+memory"); err != nil {
			return Group{}, err
		}
	}
	g.dir = filepath.Join(g.dir, name)
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return Group{}, err
	}
	swapFile := "memory.swappiness"
	if g.v2 {
		swapFile = "memory.swap.max"
	}
	if err := g.SetLimit(limit); err != nil {
		return Group{}, err
	}
	if _, err := os.Stat(filepath.Join(g.dir, swapFile)); err == nil { // A kernel may have no swap.
		if err := g.write(swapFile, "0"); err != nil {
			return Group{}, err
		}
	}
	return g, g.CountSockets()
}

// GroupOf returns the group of a process.
func GroupOf(pid int) (Group, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return Group{}, err
	}
	g := memoryRoot()
	for line := range strings.Lines(string(content)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, path
		if len(fields) == 3 && (g.v2 && fields[1] == "" || !g.v2 && fields[1] == "memory") {
			g.dir = filepath.Join(g.dir, fields[2])
			return g, nil
		}
	}
	return Group{}, fmt.Errorf("process %d is in no group for memory:\n%s", pid, content)
}

// Command is exec.Command for a program that is to start in the group.
func (g Group) Command(name string, arguments ...string) *exec.Cmd {
	const join = `echo 0 >"$0" && exec "$@"`
	return exec.Command("sh", append([]string{"-c", join, filepath.Join(g.dir, "cgroup.procs"), name}, arguments...)...)
}

// Remove removes the group, which must have no processes. It tries again for a while, because the kernel needs a moment
// to notice that they have ended.
func (g Group) Remove() (err error) {
	for range 100 {
		if err = os.Remove(g.dir); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}

// CountSockets makes the kernel account the memory of sockets. With version 2, the kernel always does so, and includes
// it in the group's memory. With version 1, it does so only if sockets have a limit, and accounts it separately.
func (g Group) CountSockets() error {
	if g.v2 {
		return nil
	}
	const none = int64(1) << 50
	return g.write("memory.kmem.tcp.limit_in_bytes", strconv.FormatInt(none, 10))
}

// SetLimit sets how much memory the group may use, in bytes. With version 1, the kernel refuses a limit below the
// current usage.
func (g Group) SetLimit(bytes int64) error {
	if g.v2 {
		return g.write("memory.max", strconv.FormatInt(bytes, 10))
	}
	return g.write("memory.limit_in_bytes", strconv.FormatInt(bytes, 10))
}

// Limit returns how much memory the group may use, in bytes.
func (g Group) Limit() (int64, error) {
	if g.v2 {
		return g.sum("memory.max")
	}
	return g.sum("memory.limit_in_bytes")
}

// Peak returns the largest amount of memory that the group has used, in bytes, including its sockets.
func (g Group) Peak() (int64, error) {
	if g.v2 {
		return g.sum("memory.peak")
	}
	return g.sum("memory.max_usage_in_bytes", "memory.kmem.tcp.max_usage_in_bytes")
}

// Kills returns how many processes of the group were killed because it had used up its memory.
func (g Group) Kills() (int, error) {
	file := "memory.oom_control"
	if g.v2 {
		file = "memory.events"
	}
	content, err := fs.ReadFile(os.DirFS(g.dir), file)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(content)) {
		if number, found := strings.CutPrefix(line, "oom_kill "); found {
			return strconv.Atoi(strings.TrimSpace(number))
		}
	}
	return 0, fmt.Errorf("%s of %s does not count kills:\n%s", file, g.dir, content)
}

// Judge returns an error if the group's limit was too low, or was too high: by more than 25 % and more than 32 MiB
// above the peak.
func (g Group) Judge() (figures string, err error) {
	limit, limitErr := g.Limit()
	peak, peakErr := g.Peak()
	kills, killsErr := g.Kills()
	if err := errors.Join(limitErr, peakErr, killsErr); err != nil {
		return "", err
	}
	figures = fmt.Sprintf("limit %d MiB, peak %d MiB, %d killed", limit>>20, peak>>20, kills)
	switch {
	case kills > 0 || peak >= limit:
		return figures, fmt.Errorf("the limit is too low: %s", figures)
	case limit > peak+peak/4+32<<20:
		return figures, fmt.Errorf("the limit is more than 25 %% and 32 MiB above the peak: %s", figures)
	}
	return figures, nil
}

func (g Group) write(file, value string) error {
	return os.WriteFile(filepath.Join(g.dir, file), []byte(value), 0)
}

func (g Group) sum(files ...string) (sum int64, err error) {
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(g.dir, file))
		if err != nil {
			return 0, err
		}
		number, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s of %s: %w", file, g.dir, err)
		}
		sum += number
	}
	return sum, nil
}
