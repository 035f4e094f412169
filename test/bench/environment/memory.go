package environment

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/monitor"
)

// Profile writes a profile of the operator to a file, and its heaviest functions as text next to it. The profile is
// "heap?gc=1", or "profile?seconds=10" for the CPU time from now on.
func (o *Operator) Profile(ctx context.Context, profile, path string) error {
	body, err := o.ReadProfile(ctx, profile)
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

// Machine describes on which machine and when the bench runs. It omits properties that the system does not report.
func Machine(kubernetes string) string {
	parts := []string{fmt.Sprintf("%d cores", runtime.NumCPU()), monitor.ProcField("/proc/cpuinfo", "model name")}
	if memory := monitor.BytesOf(monitor.ProcField("/proc/meminfo", "MemTotal")); memory > 0 {
		parts = append(parts, fmt.Sprintf("%.0f GiB", memory/(1<<30)))
	}
	if kernel, err := exec.Command("uname", "-sr").Output(); err == nil {
		parts = append(parts, strings.TrimSpace(string(kernel)))
	}
	parts = append(parts, runtime.Version()+" "+runtime.GOARCH, "Kubernetes "+kubernetes)
	if load, err := os.ReadFile("/proc/loadavg"); err == nil { // If the load is not near 0, figures are of no use.
		lastMinute, _, _ := strings.Cut(string(load), " ")
		parts = append(parts, "load "+lastMinute+" before")
	}
	return time.Now().Format(time.DateOnly) + ": " + strings.ReplaceAll(strings.Join(parts, ", "), ", , ", ", ")
}
