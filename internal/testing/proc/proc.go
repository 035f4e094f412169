// Package proc finds the processes of Pods that run on this machine, and acts in their networks.
package proc

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/vishvananda/netns"
	"k8s.io/apimachinery/pkg/types"
)

// OfPod returns the process ID of a program in a Pod, as this machine sees it, or 0 if the program does not run.
func OfPod(pod types.UID, program string) (pid int, err error) {
	files, err := filepath.Glob("/proc/[0-9]*/comm")
	for _, file := range files {
		command, _ := os.ReadFile(file) // Processes may end in the meantime.
		groups, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cgroup"))
		if strings.TrimSpace(string(command)) == program && strings.Contains(string(groups), string(pod)) {
			return strconv.Atoi(filepath.Base(filepath.Dir(file)))
		}
	}
	return 0, err
}

// InNetworkOf calls a function in the network namespace of a process. The function must start no other goroutine for
// its work. InNetworkOf needs root, and Linux. A socket stays in the network namespace in which it was made.
func InNetworkOf(pid int, do func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // The thread stays locked, and ends with the goroutine.
		network, err := netns.GetFromPid(pid)
		if err == nil {
			defer network.Close()
			err = netns.Set(network)
		}
		if err == nil {
			err = do()
		}
		done <- err
	}()
	return <-done
}
