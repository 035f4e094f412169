package actions

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// process is a process of a cache's Pods.
type process struct {
	Program string `json:"program"` // memcached, or agent
	Pod     int    `json:"pod"`     // counts from 0, by name
}

// cutOff is how long a Pod is cut off from the network, or the kubelet hangs.
type cutOff struct {
	Pod     int     `json:"pod"`
	Seconds float64 `json:"seconds"`
}

// processes need a real Node. Simulated Pods have no processes.
func processes() []Action {
	drawProcess := func(r *rand.Rand) any { return process{[]string{"memcached", "agent"}[r.IntN(2)], r.IntN(3)} }
	drawCutOff := func(r *rand.Rand) any { return cutOff{r.IntN(3), float64(1 + r.IntN(8))} }
	return []Action{
		{plan.Action{Name: "kill a process in a Pod", Weight: 4, Draw: drawProcess, Only: plan.RealNodes}, killProcess},
		{plan.Action{
			Name: "limit a container's memory to what it uses", Weight: 2, Draw: drawProcess, Only: plan.RealNodes,
		}, limitMemory},
		{plan.Action{Name: "cut a Pod off from the network", Weight: 3, Draw: drawCutOff, Only: plan.RealNodes}, cutPodOff},
		{plan.Action{Name: "stop the kubelet for a while", Weight: 1, Draw: drawCutOff, Only: plan.RealNodes}, stopKubelet},
	}
}

// podOf returns the n-th Pod of a cache by name, or nil if it does not exist.
func podOf(ctx context.Context, w *world.World, cache string, n int) (*corev1.Pod, error) {
	pods := &corev1.PodList{} // The API server sorts by name.
	err := ask(ctx, func(ctx context.Context) error {
		return w.Client.List(ctx, pods, client.InNamespace(w.Namespace), client.MatchingLabels{"memcached_cr": cache})
	})
	if err != nil || n >= len(pods.Items) {
		return nil, err
	}
	return &pods.Items[n], nil
}

// processOf returns the id of a program's process in a Pod, as this machine sees it, or 0 if it does not run.
func processOf(ctx context.Context, w *world.World, cache string, p process) (int, error) {
	pod, err := podOf(ctx, w, cache, p.Pod)
	if err != nil || pod == nil {
		return 0, err
	}
	files, err := filepath.Glob("/proc/[0-9]*/comm")
	for _, file := range files {
		command, _ := os.ReadFile(file) // Processes end meanwhile.
		groups, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cgroup"))
		if strings.TrimSpace(string(command)) == p.Program && strings.Contains(string(groups), string(pod.UID)) {
			return strconv.Atoi(filepath.Base(filepath.Dir(file)))
		}
	}
	return 0, err
}

func killProcess(ctx context.Context, w *world.World, step plan.Step) error {
	target, err := arguments[process](step)
	if err != nil {
		return err
	}
	pid, err := processOf(ctx, w, step.Cache, target)
	if err != nil || pid == 0 {
		return err
	}
	_ = syscall.Kill(pid, syscall.SIGKILL) // It may have ended meanwhile.
	return nil
}

// memoryLimits are the files that hold a container's limit and what it uses, by the version of control groups.
var memoryLimits = map[string]struct{ limit, usage string }{
	"memory": {"/sys/fs/cgroup/memory%s/memory.limit_in_bytes", "/sys/fs/cgroup/memory%s/memory.usage_in_bytes"},
	"":       {"/sys/fs/cgroup%s/memory.max", "/sys/fs/cgroup%s/memory.current"},
}

// limitMemory has the kernel end the container's process as soon as it needs more: clients keep writing. The limit
// ends with the container.
func limitMemory(ctx context.Context, w *world.World, step plan.Step) error {
	target, err := arguments[process](step)
	if err != nil {
		return err
	}
	pid, err := processOf(ctx, w, step.Cache, target)
	if err != nil || pid == 0 {
		return err
	}
	groups, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	for line := range strings.Lines(string(groups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, path
		files, ok := memoryLimits[fields[1]]
		if !ok {
			continue
		}
		usage, err := os.ReadFile(fmt.Sprintf(files.usage, fields[2]))
		if err != nil {
			continue
		}
		_ = os.WriteFile(fmt.Sprintf(files.limit, fields[2]), usage, 0o600) // It may have ended meanwhile.
		return nil
	}
	return nil
}

// cutPodOff drops all packets in the network of a Pod, also those of the kubelet's probes.
func cutPodOff(ctx context.Context, w *world.World, step plan.Step) error {
	cut, err := arguments[cutOff](step)
	if err != nil {
		return err
	}
	pid, err := processOf(ctx, w, step.Cache, process{"memcached", cut.Pod})
	if err != nil || pid == 0 {
		return err
	}
	nft := func(rules string) {
		command := exec.Command("nsenter", "--net", "--target", strconv.Itoa(pid), "nft", "-f", "-")
		command.Stdin = strings.NewReader(rules)
		_ = command.Run() // The Pod may have ended meanwhile, and its network with it.
	}
	nft(`table inet faults {
		chain in { type filter hook input priority 0; policy drop; }
		chain out { type filter hook output priority 0; policy drop; }
	}`)
	restore := func() { nft("delete table inet faults") }
	timer := time.AfterFunc(time.Duration(cut.Seconds*float64(time.Second)), restore)
	w.Later(func(context.Context) error {
		if timer.Stop() {
			restore()
		}
		return nil
	})
	return nil
}

// stopKubelet has the Node's kubelet hang: Pods keep running, and nothing is reported of them.
func stopKubelet(_ context.Context, w *world.World, step plan.Step) error {
	stop, err := arguments[cutOff](step)
	if err != nil {
		return err
	}
	if err := w.Cluster.Pause("kubelet"); err != nil {
		return err
	}
	timer := time.AfterFunc(time.Duration(stop.Seconds*float64(time.Second)), func() { _ = w.Cluster.Resume("kubelet") })
	w.Later(func(context.Context) error {
		if timer.Stop() {
			return w.Cluster.Resume("kubelet")
		}
		return nil
	})
	return nil
}
