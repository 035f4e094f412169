package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
)

// ProcessOf finds a process of a Pod that runs on this machine.
func ProcessOf(pod *corev1.Pod, name string) (int, error) {
	commands, err := filepath.Glob("/proc/[0-9]*/comm")
	if err != nil {
		return 0, err
	}
	for _, file := range commands {
		command, _ := os.ReadFile(file) // Processes end meanwhile.
		groups, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cgroup"))
		if strings.TrimSpace(string(command)) == name && strings.Contains(string(groups), string(pod.UID)) {
			return strconv.Atoi(filepath.Base(filepath.Dir(file)))
		}
	}
	return 0, fmt.Errorf("no process %s runs in Pod %s", name, pod.Name)
}

// StartInNetworkOf starts a command in the network of a process.
func StartInNetworkOf(pid int, cmd *exec.Cmd) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // For good: the thread ends with the goroutine.
		done <- enterAndStart(pid, cmd)
	}()
	return <-done
}

func enterAndStart(pid int, cmd *exec.Cmd) error {
	network, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return err
	}
	defer network.Close()
	if err := unix.Setns(int(network.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter the network of process %d: %w", pid, err)
	}
	return cmd.Start()
}
