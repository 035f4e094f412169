package local

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/prometheus/procfs"
)

// Part is one process of the cluster that the supervisor keeps running.
type Part struct {
	Name string `json:"name"`
	Pid  int    `json:"pid"` // as this machine sees it; 0 during a restart, or without /proc
}

// Parts returns the cluster's processes. The processes of Pods are not among them.
func (c *Cluster) Parts() ([]Part, error) {
	running, err := processesOf(c.Pid)
	parts := make([]Part, len(c.PartNames))
	for i, name := range c.PartNames {
		parts[i] = Part{Name: name, Pid: running[name]}
	}
	return parts, err
}

// Kill ends a part by SIGKILL. The supervisor starts it again a moment later.
func (c *Cluster) Kill(part string) error { return c.signal(part, syscall.SIGKILL) }

// Pause makes a part hang: its connections stay open, and nothing answers, until Resume or Kill.
func (c *Cluster) Pause(part string) error { return c.signal(part, syscall.SIGSTOP) }

// Resume continues a paused part.
func (c *Cluster) Resume(part string) error { return c.signal(part, syscall.SIGCONT) }

func (c *Cluster) signal(part string, signal syscall.Signal) error {
	pid, err := c.PidOf(part)
	if err != nil {
		return err
	}
	return syscall.Kill(pid, signal)
}

// PidOf returns the id of a part's process, as this machine sees it.
func (c *Cluster) PidOf(part string) (int, error) {
	running, err := processesOf(c.Pid)
	if err == nil && running[part] == 0 {
		err = fmt.Errorf("no part %q runs in cluster %q", part, c.Name)
	}
	return running[part], err
}

// processesOf returns the processes that a process started, by the names that it gave them.
func processesOf(parent int) (map[string]int, error) {
	children := map[string]int{}
	if runtime.GOOS != "linux" {
		return children, nil
	}
	processes, err := procfs.AllProcs()
	if err != nil {
		return nil, err
	}
	for _, process := range processes {
		stat, err1 := process.Stat()
		words, err2 := process.CmdLine()
		if err1 == nil && err2 == nil && stat.PPID == parent && len(words) > 0 { // otherwise, the process has ended
			name, _, _ := strings.Cut(words[0], " ") // Redis adds its address to its name
			children[filepath.Base(name)] = process.PID
		}
	}
	return children, nil
}
