package report

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Machine is where and when figures were measured.
type Machine struct {
	Date       string `json:"date"`
	Cores      int    `json:"cores"`
	Processor  string `json:"processor,omitempty"`
	Memory     string `json:"memory,omitempty"`
	Kernel     string `json:"kernel"`
	Go         string `json:"go"`
	Kubernetes string `json:"kubernetes"`
	Command    string `json:"command"` // that repeats the run

	// Load is the load average when the run began: figures are of use only where it is near 0.
	Load string `json:"load,omitempty"`
}

// ThisMachine describes the machine that it runs on. What a system does not tell is left out.
func ThisMachine(kubernetes, command string) Machine {
	kernel, err := exec.Command("uname", "-sr").Output()
	if err != nil {
		kernel = []byte(runtime.GOOS)
	}
	return Machine{
		Date: time.Now().Format(time.DateOnly), Cores: runtime.NumCPU(),
		Processor: field("/proc/cpuinfo", "model name"), Memory: gibibytes(field("/proc/meminfo", "MemTotal")),
		Kernel: strings.TrimSpace(string(kernel)), Go: runtime.Version() + " " + runtime.GOARCH,
		Kubernetes: kubernetes, Command: command, Load: loadAverage(),
	}
}

// field reads the first line of a file that begins with the key and a colon.
func field(path, key string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		if strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// loadAverage is that of the last minute.
func loadAverage() string {
	content, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	load, _, _ := strings.Cut(string(content), " ")
	return load
}

func gibibytes(kibibytes string) string {
	var n float64
	if _, err := fmt.Sscanf(kibibytes, "%f kB", &n); err != nil {
		return ""
	}
	return fmt.Sprintf("%.0f GiB", n/(1<<20))
}

// String describes the machine in one sentence.
func (m Machine) String() string {
	parts := []string{fmt.Sprintf("%d cores", m.Cores)}
	for _, part := range []string{m.Processor, m.Memory, m.Kernel, m.Go, "Kubernetes " + m.Kubernetes} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if m.Load != "" {
		parts = append(parts, "load "+m.Load+" before")
	}
	return m.Date + ": " + strings.Join(parts, ", ")
}
