package environment

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Memory is what the operator holds, in bytes.
type Memory struct {
	Heap     float64 // after a garbage collection
	Resident float64 // before it
	Peak     float64 // the most that was ever resident
}

// Memory reads it. Only Linux reports what is resident.
func (o *Operator) Memory(ctx context.Context) (memory Memory, err error) {
	status := fmt.Sprintf("/proc/%d/status", o.cmd.Process.Pid)
	memory.Resident, memory.Peak = bytesOf(procField(status, "VmRSS")), bytesOf(procField(status, "VmHWM"))
	if memory.Resident == 0 || memory.Peak == 0 {
		return memory, fmt.Errorf("%s: no VmRSS or no VmHWM", status)
	}
	body, err := get(ctx, "http://"+o.pprof+"/debug/pprof/heap?gc=1&debug=1")
	if err != nil {
		return memory, err
	}
	defer body.Close()
	for lines := bufio.NewScanner(body); lines.Scan(); {
		if _, err := fmt.Sscanf(lines.Text(), "# HeapAlloc = %f", &memory.Heap); err == nil {
			return memory, nil
		}
	}
	return memory, errors.New("the heap profile lacks HeapAlloc")
}

// Profile writes a profile of the operator to a file, and its heaviest functions as text beside it. The profile is
// "heap?gc=1", or "profile?seconds=10" for the CPU time from now on.
func (o *Operator) Profile(ctx context.Context, profile, path string) error {
	body, err := get(ctx, "http://"+o.pprof+"/debug/pprof/"+profile)
	if err != nil {
		return err
	}
	defer body.Close()
	content, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		return err
	}
	top := exec.CommandContext(ctx, "go", "tool", "pprof", "-top", "-cum", "-nodecount=60", path)
	out, err := top.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", top, err)
	}
	return os.WriteFile(path+".txt", out, 0o644)
}

// Machine describes where and when the bench runs. What the system does not report is left out.
func Machine(kubernetes string) string {
	parts := []string{fmt.Sprintf("%d cores", runtime.NumCPU()), procField("/proc/cpuinfo", "model name")}
	if memory := bytesOf(procField("/proc/meminfo", "MemTotal")); memory > 0 {
		parts = append(parts, fmt.Sprintf("%.0f GiB", memory/(1<<30)))
	}
	if kernel, err := exec.Command("uname", "-sr").Output(); err == nil {
		parts = append(parts, strings.TrimSpace(string(kernel)))
	}
	parts = append(parts, runtime.Version()+" "+runtime.GOARCH, "Kubernetes "+kubernetes)
	if load, err := os.ReadFile("/proc/loadavg"); err == nil { // Figures are of use only where it is near 0.
		lastMinute, _, _ := strings.Cut(string(load), " ")
		parts = append(parts, "load "+lastMinute+" before")
	}
	return time.Now().Format(time.DateOnly) + ": " + strings.ReplaceAll(strings.Join(parts, ", "), ", , ", ", ")
}

// procField reads a field of a file in /proc: the first line with that name. It is empty if it does not exist.
func procField(path, name string) string {
	content, _ := os.ReadFile(path)
	for line := range strings.Lines(string(content)) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// bytesOf parses a size as the kernel writes it, and returns 0 for any other text.
func bytesOf(size string) float64 {
	var kibibytes float64
	if _, err := fmt.Sscanf(size, "%f kB", &kibibytes); err != nil {
		return 0
	}
	return kibibytes * 1024
}
