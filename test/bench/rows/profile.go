package rows

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/example-inc/memcached-operator/test/bench/lab"
)

// cpuSeconds is how long a profile of CPU time runs.
const cpuSeconds = 5

// profileCPU profiles an operator that has just been started, if profiles are wanted. It tells when it is done.
func profileCPU(ctx context.Context, operator *lab.Operator, dir, file string) <-chan error {
	done := make(chan error, 1)
	go func() {
		if dir == "" {
			done <- nil
			return
		}
		err := operator.Await(ctx, time.Minute, func(lab.Metrics) bool { return true })
		if err == nil {
			err = profile(ctx, operator, fmt.Sprintf("profile?seconds=%d", cpuSeconds), filepath.Join(dir, file))
		}
		done <- err
	}()
	return done
}

// profile writes a profile, and what weighs most in it as text beside it.
func profile(ctx context.Context, operator *lab.Operator, what, path string) error {
	if err := operator.Profile(ctx, what, path); err != nil {
		return err
	}
	top := exec.CommandContext(ctx, "go", "tool", "pprof", "-top", "-cum", "-nodecount=60", path)
	out, err := top.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", top, err)
	}
	return os.WriteFile(path+".txt", out, 0o644)
}
