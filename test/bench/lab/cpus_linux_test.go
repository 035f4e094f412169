package lab

import (
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func cpus(numbers ...int) *CPUs {
	set := new(CPUs)
	for _, number := range numbers {
		set.Set(number)
	}
	return set
}

func highest(set CPUs) (number int) {
	for cpu := range 64 * len(set) {
		if set.IsSet(cpu) {
			number = cpu
		}
	}
	return number
}

func TestHalves(t *testing.T) {
	tests := map[string]struct{ all, first, second *CPUs }{
		"two CPUs are one each":             {cpus(0, 1), cpus(0), cpus(1)},
		"the second has one more of three":  {cpus(0, 1, 2), cpus(0), cpus(1, 2)},
		"gaps between the numbers are fine": {cpus(3, 64, 65, 200), cpus(3, 64), cpus(65, 200)},
		"one CPU can't be parted":           {cpus(5), nil, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			first, second, err := halves(tc.all)
			if diff := cmp.Diff([]*CPUs{tc.first, tc.second}, []*CPUs{first, second}); diff != "" {
				t.Errorf("halves (-want +got):\n%s", diff)
			}
			if (err != nil) != (tc.first == nil) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestKeepOnKeepsAProcessOnTheCPUs(t *testing.T) {
	var all CPUs
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	last := cpus(highest(all))
	process := exec.CommandContext(t.Context(), "cat")
	if _, err := process.StdinPipe(); err != nil { // It waits for an input, until the test ends.
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	if err := keepOn(process.Process.Pid, last); err != nil {
		t.Fatal(err)
	}
	var got CPUs
	if err := unix.SchedGetaffinity(process.Process.Pid, &got); err != nil || got != *last {
		t.Errorf("it runs on %v, %v; want %v", got, err, *last)
	}
}
