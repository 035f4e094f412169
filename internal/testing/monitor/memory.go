package monitor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Memory is how much memory the operator uses, in bytes.
type Memory struct {
	Heap     float64 // after a garbage collection
	Resident float64 // before that collection
	Peak     float64 // the most that was ever resident
}

// ReadMemory reads the operator's memory. Only Linux reports the resident memory.
func (p Process) ReadMemory(ctx context.Context) (memory Memory, err error) {
	status := fmt.Sprintf("/proc/%d/status", p.Pid)
	memory.Resident, memory.Peak = BytesOf(ProcField(status, "VmRSS")), BytesOf(ProcField(status, "VmHWM"))
	if memory.Resident == 0 || memory.Peak == 0 {
		return memory, fmt.Errorf("%s: no VmRSS or no VmHWM", status)
	}
	body, err := p.ReadProfile(ctx, "heap?gc=1&debug=1")
	if err != nil {
		return memory, err
	}
	defer body.Close()
	for lines := bufio.NewScanner(body); lines.Scan(); {
		if _, err := fmt.Sscanf(lines.Text(), "# HeapAlloc = %f", &memory.Heap); err == nil {
			return memory, nil
		}
	}
	return memory, errors.New("the heap profile has no HeapAlloc")
}

// ReadProfile reads a profile by its name and parameters: "heap?gc=1", or "profile?seconds=10" for the CPU time from
// now on.
func (p Process) ReadProfile(ctx context.Context, profile string) (io.ReadCloser, error) {
	return get(ctx, "http://"+p.Profiles+"/debug/pprof/"+profile)
}

// ProcField reads a field of a file in /proc: the first line with that name. It returns an empty string if there is no
// such line.
func ProcField(path, name string) string {
	content, _ := os.ReadFile(path)
	for line := range strings.Lines(string(content)) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// BytesOf parses a size as the kernel writes it, and returns 0 for any other text.
func BytesOf(size string) float64 {
	var kibibytes float64
	if _, err := fmt.Sscanf(size, "%f kB", &kibibytes); err != nil {
		return 0
	}
	return kibibytes * 1024
}
