package lab

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
)

// CPUs are those of the machine that a process may run on.
type CPUs = unix.CPUSet

// HalvesOfCPUs parts the CPUs that this process may run on. Of an odd number the first half has one less, and a machine
// with one CPU can't be parted.
func HalvesOfCPUs() (first, second *CPUs, err error) {
	var all CPUs
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return nil, nil, fmt.Errorf("ask on which CPUs to run: %w", err)
	}
	return halves(&all)
}

func halves(all *CPUs) (first, second *CPUs, err error) {
	first, second = new(CPUs), new(CPUs)
	number := all.Count()
	if number < 2 {
		return nil, nil, errors.New("the client and memcached need a CPU each, and there is one")
	}
	for cpu, seen := 0, 0; seen < number; cpu++ {
		if !all.IsSet(cpu) {
			continue
		}
		if seen < number/2 {
			first.Set(cpu)
		} else {
			second.Set(cpu)
		}
		seen++
	}
	return first, second, nil
}

// KeepPodOn keeps all processes of a Pod that runs on this machine, with their threads, on some CPUs.
func KeepPodOn(pod *corev1.Pod, cpus *CPUs) error {
	processes, err := processesOf(pod)
	if err != nil {
		return err
	}
	for _, pid := range processes {
		if err := keepOn(pid, cpus); err != nil {
			return fmt.Errorf("keep process %d of Pod %s on half of the CPUs: %w", pid, pod.Name, err)
		}
	}
	return nil
}

// keepOn keeps the threads of a process on some CPUs. A thread that one of them starts later is kept there too.
func keepOn(pid int, cpus *CPUs) error {
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return err
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			return err
		}
		if err := unix.SchedSetaffinity(id, cpus); err != nil && !errors.Is(err, unix.ESRCH) { // Threads end meanwhile.
			return err
		}
	}
	return nil
}
