package supervisor

import (
	"bytes"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// TestMain runs a supervisor instead of the tests if a test has started this process as a supervisor.
func TestMain(m *testing.M) {
	if script := os.Getenv("SUPERVISE"); script != "" {
		s := newSupervisor(script)
		os.Exit(s.Run())
	}
	os.Exit(m.Run())
}

func newSupervisor(script string) *Supervisor {
	return &Supervisor{
		Command: []string{"/bin/sh", "-c", script}, Signals: make(chan os.Signal, 1),
		Pause: time.Millisecond, Log: slog.New(slog.DiscardHandler),
	}
}

func TestAProgramThatEndsByItselfEndsTheSupervisor(t *testing.T) {
	tests := map[string]struct {
		command []string
		want    int
	}{
		"it is done":            {[]string{"/bin/sh", "-c", "exit 0"}, 0},
		"it says what is wrong": {[]string{"/bin/sh", "-c", "exit 1"}, 1},
		"there is none":         {[]string{"/no/such/program"}, 1},
		"a handoff has failed":  {[]string{"/bin/sh", "-c", "exit 3"}, 3},
		"a handoff has failed, after a crash": {
			[]string{"/bin/sh", "-c", "[ $AGENT_RESTARTS = 2 ] && exit 3; exit 2"}, 3,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSupervisor("")
			s.Command = tc.command
			if got := s.Run(); got != tc.want {
				t.Errorf("exit code %d, want %d", got, tc.want)
			}
		})
	}
}

// TestAProgramThatCrashesIsStartedAgain after each kind of crash. After the first crash, it is started again even after
// exit code 0, because no signal ended it.
func TestAProgramThatCrashesIsStartedAgain(t *testing.T) {
	starts := filepath.Join(t.TempDir(), "starts")
	s := newSupervisor("echo $AGENT_RESTARTS >> " + starts + `
		case $AGENT_RESTARTS in
		0) exit 2;;
		1) kill -9 $$;;
		2) kill -ABRT $$;;
		3) exit 1;;
		4) exit 0;;
		esac
		trap 'exit 7' TERM
		echo ready >> ` + starts + `
		while :; do sleep 0.01; done`)
	log := &bytes.Buffer{}
	s.Log = slog.New(slog.NewTextHandler(log, nil))
	signals := make(chan os.Signal, 1)
	s.Signals = signals
	code := start(s)
	await(t, starts, "ready")
	signals <- syscall.SIGTERM
	receive(t, code, 7)
	if diff := cmp.Diff(strings.Fields("0 1 2 3 4 5 ready"), strings.Fields(read(starts))); diff != "" {
		t.Errorf("starts (-want +got):\n%s", diff)
	}
	for _, words := range []string{
		`pause=1ms error="exit status 2"`, `pause=2ms error="signal: killed"`, `pause=4ms error="signal: aborted`,
		`pause=8ms error="exit status 1"`, `pause=16ms error=<nil>`,
	} {
		if !strings.Contains(log.String(), words) {
			t.Errorf("the log has no %s:\n%s", words, log)
		}
	}
}

func TestASignalEndsAProgramThatCanNotHandleIt(t *testing.T) {
	starts := filepath.Join(t.TempDir(), "starts")
	s := newSupervisor("echo ready >> " + starts + "; exec sleep 1000")
	signals := make(chan os.Signal, 1)
	s.Signals = signals
	code := start(s)
	await(t, starts, "ready")
	signals <- syscall.SIGTERM
	receive(t, code, 0)
}

func TestASignalEndsThePause(t *testing.T) {
	s := newSupervisor("exit 2")
	signals := make(chan os.Signal, 1)
	s.Signals, s.Pause = signals, time.Hour
	paused := make(chan struct{})
	s.Log = slog.New(slog.NewTextHandler(writer(func() { close(paused) }), nil))
	code := start(s)
	<-paused
	signals <- syscall.SIGTERM
	receive(t, code, 0)
}

func TestPausesGrowUntilTheProgramRunsForAWhile(t *testing.T) {
	s := &Supervisor{Pause: time.Second}
	pause := time.Duration(0)
	var got []string
	for _, ran := range []time.Duration{0, 1, 1, 1, 1, 1, time.Hour, 1, steady - 1, steady} {
		pause = s.next(pause, ran)
		got = append(got, pause.String())
	}
	if diff := cmp.Diff(strings.Fields("1s 2s 4s 8s 16s 30s 1s 2s 4s 1s"), got); diff != "" {
		t.Errorf("pauses (-want +got):\n%s", diff)
	}
}

// TestAProgramEndsWithItsSupervisor kills a supervisor, which has no time to end its program itself.
func TestAProgramEndsWithItsSupervisor(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	supervisor := exec.Command(os.Args[0])
	supervisor.Env = append(os.Environ(), "SUPERVISE=echo $$ >> "+pidFile+"; exec sleep 1000")
	if err := supervisor.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, pidFile, "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(read(pidFile)))
	if err != nil {
		t.Fatal(err)
	}
	if !running(pid) {
		t.Fatal("the program does not run")
	}
	if err := supervisor.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = supervisor.Wait()
	wait(t).Eventually(func() bool { return running(pid) }).Should(gomega.BeFalse())
}

// running reports whether a process runs. It returns false for a zombie, too, because maybe no process waits for its
// end.
func running(pid int) bool {
	status := read("/proc/" + strconv.Itoa(pid) + "/status")
	return status != "" && !strings.Contains(status, "State:\tZ")
}

func TestTheExitCodeOfAFailedHandoffIsThatOfTheAgent(t *testing.T) {
	if handoffFailed != instruction.ExitCode {
		t.Errorf("%d, the agent's is %d", handoffFailed, instruction.ExitCode)
	}
}

func start(s *Supervisor) <-chan int {
	code := make(chan int, 1)
	go func() { code <- s.Run() }()
	return code
}

func receive(t *testing.T, code <-chan int, want int) {
	t.Helper()
	var got int
	wait(t).Eventually(code).Should(gomega.Receive(&got))
	if got != want {
		t.Errorf("exit code %d, want %d", got, want)
	}
}

func await(t *testing.T, file, words string) {
	t.Helper()
	wait(t).Eventually(func() string { return read(file) }).Should(gomega.ContainSubstring(words))
}

func read(file string) string {
	content, _ := os.ReadFile(file) // the file may not exist yet
	return string(content)
}

func wait(t *testing.T) *gomega.WithT {
	t.Helper()
	g := gomega.NewWithT(t)
	g.SetDefaultEventuallyTimeout(2 * time.Minute)
	return g
}

type writer func()

func (w writer) Write(p []byte) (int, error) {
	w()
	return len(p), nil
}
