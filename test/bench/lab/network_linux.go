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
	processes, err := processesOf(pod)
	if err != nil {
		return 0, err
	}
	for _, pid := range processes {
		command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)) // Processes end meanwhile.
		if strings.TrimSpace(string(command)) == name {
			return pid, nil
		}
	}
	return 0, fmt.Errorf("no process %s runs in Pod %s", name, pod.Name)
}

// processesOf finds all processes of a Pod that runs on this machine: their control groups name it.
func processesOf(pod *corev1.Pod) (pids []int, err error) {
	files, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		groups, _ := os.ReadFile(file) // Processes end meanwhile.
		if !strings.Contains(string(groups), string(pod.UID)) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			return nil, err
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// StartInNetworkOf starts a command in the network of a process, and keeps it on some CPUs.
func StartInNetworkOf(pid int, cpus *CPUs, cmd *exec.Cmd) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // For good: the thread ends with the goroutine.
		done <- enterAndStart(pid, cpus, cmd)
	}()
	return <-done
}

// enterAndStart makes the calling thread what the command is to be: that takes over both.
func enterAndStart(pid int, cpus *CPUs, cmd *exec.Cmd) error {
	network, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return err
	}
	defer network.Close()
	if err := unix.Setns(int(network.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter the network of process %d: %w", pid, err)
	}
	if err := unix.SchedSetaffinity(0, cpus); err != nil {
		return fmt.Errorf("keep %s on half of the CPUs: %w", cmd.Path, err)
	}
	return cmd.Start()
}
