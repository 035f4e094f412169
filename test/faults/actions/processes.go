package actions

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/vishvananda/netns"

	"github.com/example-inc/memcached-operator/internal/testing/proc"
	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// process is a process of a cache's Pods.
type process struct {
	Program string `json:"program"` // memcached, or agent
	Pod     int    `json:"pod"`     // the index of the Pod, sorted by name
}

// cutOff is for how long a Pod is cut off from the network, or the kubelet hangs.
type cutOff struct {
	Pod     int     `json:"pod"`
	Seconds float64 `json:"seconds"`
}

func (c cutOff) duration() time.Duration { return time.Duration(c.Seconds * float64(time.Second)) }

// memoryLimit is a memory limit that is lower than the memory that a process uses.
type memoryLimit struct {
	process
	lasting
}

// processes are actions on the processes in Pods. They need a real Node, because simulated Pods have no processes.
func processes() []Action {
	drawProcess := func(r *rand.Rand) any { return process{[]string{"memcached", "agent"}[r.IntN(2)], r.IntN(3)} }
	ofMemory := func(r *rand.Rand) any { return memoryLimit{drawProcess(r).(process), drawLasting(r)} }
	drawCutOff := func(r *rand.Rand) any { return cutOff{r.IntN(3), float64(1 + r.IntN(8))} }
	return onlyOn(plan.RealNodes, []Action{
		{plan.Action{Name: "kill a process in a Pod", Weight: 4, Draw: drawProcess}, given(killProcess)},
		{plan.Action{Name: "limit a container's memory to less than it uses", Weight: 2, Draw: ofMemory}, given(limitMemory)},
		{plan.Action{Name: "cut a Pod off from the network", Weight: 3, Draw: drawCutOff}, given(cutPodOff)},
		{plan.Action{Name: "stop the kubelet for a while", Weight: 1, Draw: drawCutOff}, given(stopKubelet)},
	})
}

// processOf returns the id of a program's process in a Pod, as this machine sees it, or 0 if it does not run.
func processOf(ctx context.Context, w *world.World, cache string, p process) (int, error) {
	pods, err := onPods{p.Pod + 1}.first(ctx, w, cache)
	if err != nil || p.Pod >= len(pods) {
		return 0, err
	}
	return proc.OfPod(pods[p.Pod].UID, p.Program)
}

func killProcess(ctx context.Context, w *world.World, step plan.Step, target process) error {
	pid, err := processOf(ctx, w, step.Cache, target)
	if err != nil || pid == 0 {
		return err
	}
	if syscall.Kill(pid, syscall.SIGKILL) == nil { // It may have ended in the meantime.
		world.HadEffect(ctx)
	}
	return nil
}

// memoryFiles are the files with a container's memory limit and usage, for each version of control groups.
var memoryFiles = map[string]struct{ limit, usage string }{
	"memory": {"/sys/fs/cgroup/memory%s/memory.limit_in_bytes", "/sys/fs/cgroup/memory%s/memory.usage_in_bytes"},
	"":       {"/sys/fs/cgroup%s/memory.max", "/sys/fs/cgroup%s/memory.current"},
}

// limitMemory lowers the memory limit of a container below its usage for some time, so that the kernel kills its
// process. If the container ends, the limit ends with it.
func limitMemory(ctx context.Context, w *world.World, step plan.Step, with memoryLimit) error {
	pid, err := processOf(ctx, w, step.Cache, with.process)
	if err != nil || pid == 0 {
		return err
	}
	groups, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	for line := range strings.Lines(string(groups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, path
		files, ok := memoryFiles[fields[1]]
		if !ok {
			continue
		}
		limit := fmt.Sprintf(files.limit, fields[2])
		before, err := os.ReadFile(limit)
		if err != nil || !lower(limit, fmt.Sprintf(files.usage, fields[2])) {
			continue
		}
		world.HadEffect(ctx)
		w.During(with.For.Duration, func() { _ = os.WriteFile(limit, before, 0o600) }) // It may have ended in the meantime.
		return nil
	}
	return nil
}

// lower sets a limit to half of the usage. With control groups of version 1, the kernel refuses a limit that it cannot
// reach in one step, but frees as much memory as it can. Then lower uses the remaining usage as the limit.
func lower(limit, usage string) bool {
	content, err := os.ReadFile(usage)
	if err != nil {
		return false
	}
	bytes, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err == nil && os.WriteFile(limit, []byte(strconv.Itoa(bytes/2)), 0o600) == nil {
		return true
	}
	content, err = os.ReadFile(usage)
	return err == nil && os.WriteFile(limit, content, 0o600) == nil
}

// cutPodOff drops all packets in the network of a Pod, including those of the kubelet's probes.
func cutPodOff(ctx context.Context, w *world.World, step plan.Step, cut cutOff) error {
	pid, err := processOf(ctx, w, step.Cache, process{"memcached", cut.Pod})
	if err != nil || pid == 0 {
		return err
	}
	network, err := netns.GetFromPid(pid) // The Pod keeps its network when the process is replaced.
	if err != nil {
		return nil //nolint:nilerr // The process may have ended in the meantime.
	}
	world.HadEffect(ctx)
	filter(network, `table inet faults {
		chain in { type filter hook input priority 0; policy drop; }
		chain out { type filter hook output priority 0; policy drop; }
	}`)
	w.During(cut.duration(), func() {
		filter(network, "delete table inet faults")
		_ = network.Close()
	})
	return nil
}

// filter adds rules to a network, or removes them.
func filter(network netns.NsHandle, rules string) {
	command := exec.Command("nsenter", fmt.Sprintf("--net=/proc/%d/fd/%d", os.Getpid(), int(network)), "nft", "-f", "-")
	command.Stdin = strings.NewReader(rules)
	_ = command.Run() // The Pod may have ended in the meantime.
}

// stopKubelet makes the Node's kubelet hang. Pods keep running, but their status is no longer reported.
func stopKubelet(ctx context.Context, w *world.World, _ plan.Step, stop cutOff) error {
	if err := w.Cluster.Pause("kubelet"); err != nil {
		return err
	}
	world.HadEffect(ctx)
	w.During(stop.duration(), func() { _ = w.Cluster.Resume("kubelet") })
	return nil
}
