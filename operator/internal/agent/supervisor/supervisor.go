// Package supervisor restarts a program that crashes. While any container of a Pod is down, Kubernetes counts the Pod
// as not ready. So the container of the agent must not end, even if the agent crashes. The package imports few
// packages, because it uses memory in each Pod, and must not crash itself.
package supervisor

import (
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// RestartsEnv is the environment variable with the number of restarts.
const RestartsEnv = "AGENT_RESTARTS"

const (
	longestPause = 30 * time.Second

	// steady is how long a program must run to count as able to work.
	steady = time.Minute
)

// Exit codes of the program. Go's own exit code, for a panic, is 2.
const (
	// failed reports a permanent error.
	failed = 1

	// handoffFailed is instruction.ExitCode. A program that exits with it is not restarted, at any time: its container
	// has to end, because the operator reads the exit code of the container.
	handoffFailed = 3
)

// Supervisor keeps a program running.
type Supervisor struct {
	Command []string         // program and arguments
	Signals <-chan os.Signal // each is forwarded, and ends the program for good
	Pause   time.Duration    // after the first crash; each later crash doubles it
	Log     *slog.Logger
}

// Run returns the exit code of the program when it ends for good: after a signal, after an error soon after its first
// start, such as an invalid flag, or after a failed handoff.
func (s *Supervisor) Run() int {
	runtime.LockOSThread() // With Pdeathsig, Linux kills the program when the thread that started it ends.
	defer runtime.UnlockOSThread()
	pause := time.Duration(0)
	for restarts := 0; ; restarts++ {
		start := time.Now()
		signalled, err := s.once(restarts)
		ran := time.Since(start)
		if signalled || exitCode(err) == handoffFailed || restarts == 0 && ran < steady && itself(err) {
			return exitCode(err)
		}
		pause = s.next(pause, ran)
		s.Log.Error("The agent crashed and is restarted", "pause", pause.String(), "error", err)
		select {
		case <-s.Signals:
			return 0
		case <-time.After(pause):
		}
	}
}

// once runs the program until it ends, and reports whether a signal ended it.
func (s *Supervisor) once(restarts int) (signalled bool, err error) {
	program := exec.Command(s.Command[0], s.Command[1:]...)
	program.Stdout, program.Stderr = os.Stdout, os.Stderr
	program.Env = append(os.Environ(), RestartsEnv+"="+strconv.Itoa(restarts))
	program.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := program.Start(); err != nil {
		return false, err
	}
	ended := make(chan error, 1)
	go func() { ended <- program.Wait() }()
	for {
		select {
		case signal := <-s.Signals:
			signalled = true
			_ = program.Process.Signal(signal) // it may have ended in the meantime
		case err := <-ended:
			return signalled, err
		}
	}
}

// next returns the next pause. It is twice as long as the last one, or short again if the program ran for a while.
func (s *Supervisor) next(pause, ran time.Duration) time.Duration {
	if ran >= steady {
		pause = 0
	}
	return min(max(2*pause, s.Pause), longestPause)
}

// itself reports whether a program exited by itself, or could not start, instead of crashing.
func itself(err error) bool {
	var exit *exec.ExitError
	return !errors.As(err, &exit) || exit.ExitCode() == failed
}

func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		return failed
	}
	return max(exit.ExitCode(), 0) // -1 if the signal arrived before its handler was installed
}
