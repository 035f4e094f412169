package local

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Part is one process that the supervisor keeps running.
type Part struct {
	Name string `json:"name"`
	Pid  int    `json:"pid"` // as this machine sees it; 0 while it is started again, and where there is no /proc
}

// Parts returns the cluster's processes. Those of Pods are not among them.
func (c *Cluster) Parts() ([]Part, error) {
	running, err := childrenOf(c.Pid)
	parts := make([]Part, len(c.PartNames))
	for i, name := range c.PartNames {
		parts[i] = Part{Name: name, Pid: running[name]}
	}
	return parts, err
}

// Kill ends a part the hard way. The supervisor starts it again a moment later.
func (c *Cluster) Kill(part string) error { return c.signal(part, syscall.SIGKILL) }

// Pause makes a part hang: its connections stay open, and nothing answers, until Resume or Kill.
func (c *Cluster) Pause(part string) error { return c.signal(part, syscall.SIGSTOP) }

// Resume continues a paused part.
func (c *Cluster) Resume(part string) error { return c.signal(part, syscall.SIGCONT) }

func (c *Cluster) signal(part string, signal syscall.Signal) error {
	parts, err := c.Parts()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(parts, func(p Part) bool { return p.Name == part && p.Pid != 0 })
	if i < 0 {
		return fmt.Errorf("no part %q runs in cluster %q", part, c.Name)
	}
	return syscall.Kill(parts[i].Pid, signal)
}

// childrenOf returns the children of a process by their name.
func childrenOf(parent int) (map[string]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	children := map[string]int{}
	for _, path := range stats {
		content, err := os.ReadFile(path)
		if err != nil {
			continue // it ended meanwhile
		}
		if pid, itsParent, ok := parseStat(string(content)); ok && itsParent == parent {
			children[nameOf(pid)] = pid
		}
	}
	return children, nil
}

// parseStat reads "pid (name) state parent ...", where the name may have any characters.
func parseStat(stat string) (pid, parent int, ok bool) {
	before, _, _ := strings.Cut(stat, " (")
	fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:])
	if len(fields) < 2 {
		return 0, 0, false
	}
	pid, err1 := strconv.Atoi(before)
	parent, err2 := strconv.Atoi(fields[1])
	return pid, parent, err1 == nil && err2 == nil
}

// nameOf is the name that the supervisor gave to a part.
func nameOf(pid int) string {
	cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	name, _, _ := strings.Cut(string(cmdline), "\x00")
	name, _, _ = strings.Cut(name, " ") // Redis writes its address after its name
	return filepath.Base(name)
}
