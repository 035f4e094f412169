package rows

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/bench/lab"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

// readyLook is how often Pods are looked at that are to become ready.
const readyLook = 200 * time.Millisecond

// dataNamespace is that of the caches under load.
var dataNamespace = lab.Name(0).Namespace

// path is the data path: caches in a real cluster, and a client that runs beside the node's own processes.
type path struct {
	*Bench
	lab    *lab.Real
	client string // program
	node   int    // process in the node's network
	caches []*loaded
	bare   *loaded

	// The client has CPUs of its own, and each memcached has the others. Else how much of a CPU each gets would hang on
	// control groups: a Pod that asks for little gives way to the client, and a bare process beside it doesn't.
	clientCPUs, cacheCPUs *lab.CPUs
}

// data compares a memcached in our Pod with the same binary as a bare process. That one runs in the network of the same
// Pod, on another port: the way to it is the same, and what differs is what a Pod is beside its network.
func data(ctx context.Context, b *Bench, update func(string)) (
	figures []report.Figure, _ []report.Plot, err error,
) {
	dir, err := b.newDir("data")
	if err != nil {
		return nil, nil, err
	}
	p := &path{Bench: b}
	if p.clientCPUs, p.cacheCPUs, err = lab.HalvesOfCPUs(); err != nil {
		return nil, nil, err
	}
	update("a real cluster comes up")
	if p.lab, err = lab.NewReal(ctx, b.Tree, dir, b.Programs, update); err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, p.lab.Close()) }()
	operator, err := p.lab.StartOperator(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, operator.Stop()) }()
	if err := p.prepare(ctx, dir, update); err != nil {
		return nil, nil, err
	}
	stop, err := p.startBare(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer stop()
	if err := p.loadInTurn(ctx, update); err != nil {
		return nil, nil, err
	}
	return dataFigures(p.bare, p.caches[0], p.caches[1:]), nil, nil
}

// prepare makes the caches and waits until they are ready.
func (p *path) prepare(ctx context.Context, dir string, update func(string)) (err error) {
	if p.node, err = p.lab.NodePid(); err != nil {
		return err
	}
	p.client = filepath.Join(dir, "client")
	if err := lab.Compile(ctx, p.Tree, "./test/client", p.client); err != nil {
		return err
	}
	tlsFlags, authFlags, err := p.makeSecrets(ctx, dir)
	if err != nil {
		return err
	}
	p.caches = variants(tlsFlags, authFlags)
	for _, cache := range p.caches {
		cache.spec.Size = new(int32(1))
		mc := &cachev1.Memcached{
			ObjectMeta: metav1.ObjectMeta{Namespace: dataNamespace, Name: cache.name}, Spec: cache.spec,
		}
		if err := p.lab.Client.Create(ctx, mc); err != nil {
			return err
		}
	}
	for _, cache := range p.caches {
		update("wait for " + cache.name)
		if err := p.await(ctx, cache); err != nil {
			return fmt.Errorf("wait for the Pod of %s: %w", cache.name, err)
		}
		if err := lab.KeepPodOn(cache.pod, p.cacheCPUs); err != nil {
			return err
		}
	}
	return nil
}

// await waits until the Pod of a cache is ready.
func (p *path) await(ctx context.Context, cache *loaded) error {
	return wait.PollUntilContextTimeout(ctx, readyLook, patience, true, func(ctx context.Context) (bool, error) {
		pods := &corev1.PodList{}
		err := p.lab.Client.List(ctx, pods,
			client.InNamespace(dataNamespace), client.MatchingLabels{"memcached_cr": cache.name})
		if err != nil || len(pods.Items) != 1 || !isReady(&pods.Items[0]) {
			return false, err
		}
		cache.pod = &pods.Items[0]
		cache.endpoint = net.JoinHostPort(cache.pod.Status.PodIP, cache.port)
		if cache.scraped {
			cache.flags = append(cache.flags, "--scrape=http://"+net.JoinHostPort(cache.pod.Status.PodIP, "9150")+"/metrics")
		}
		return true, nil
	})
}

func isReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// barePort is not memcached's.
const barePort = "21211"

// startBare starts the machine's memcached, which the image is made of, with the arguments that the Pod's has.
func (p *path) startBare(ctx context.Context) (stop func(), err error) {
	pod := p.caches[0].pod
	process, err := lab.ProcessOf(pod, "memcached")
	if err != nil {
		return nil, err
	}
	var args []string
	for _, container := range pod.Spec.Containers {
		if container.Name == "memcached" {
			args = container.Args
		}
	}
	var complaints strings.Builder
	bare := exec.CommandContext(ctx, "memcached", append(args, "--port="+barePort, "--user=nobody")...)
	bare.Stderr = &complaints
	if err := lab.StartInNetworkOf(process, p.cacheCPUs, bare); err != nil {
		return nil, err
	}
	stop = func() { _ = bare.Process.Kill(); _ = bare.Wait() }
	p.bare = &loaded{name: "bare", endpoint: net.JoinHostPort(pod.Status.PodIP, barePort)}
	listens := func(ctx context.Context) (bool, error) {
		_, err := p.run(ctx, "set", "--keys=1", "--endpoint="+p.bare.endpoint)
		return err == nil, nil
	}
	if err := wait.PollUntilContextTimeout(ctx, readyLook, time.Minute, true, listens); err != nil {
		stop()
		return nil, fmt.Errorf("start %s: %w: %s", bare, err, complaints.String())
	}
	return stop, nil
}

// loadInTurn measures all caches as often as there are runs.
func (p *path) loadInTurn(ctx context.Context, update func(string)) error {
	caches := append([]*loaded{p.bare}, p.caches...)
	for run := range p.Runs + 1 {
		for _, cache := range turn(caches, run) {
			update(fmt.Sprintf("%s, run %d of %d", cache.name, run, p.Runs))
			told, err := p.load(ctx, cache)
			if err == nil && run > 0 { // The first one warms up.
				err = cache.note(told)
			}
			if err != nil {
				return fmt.Errorf("load %s: %w", cache.name, err)
			}
		}
	}
	return nil
}

// load runs the client against a cache, and returns what it told.
func (p *path) load(ctx context.Context, cache *loaded) (string, error) {
	args := append([]string{"--for=" + p.Load.String(), "--endpoint=" + cache.endpoint}, cache.flags...)
	return p.run(ctx, "load", args...)
}

// run runs the client in the network of the node, and returns what it told.
func (p *path) run(ctx context.Context, verb string, args ...string) (string, error) {
	var out, complaints strings.Builder
	client := exec.CommandContext(ctx, p.client, append([]string{verb}, args...)...)
	client.Stdout, client.Stderr = &out, &complaints
	if err := lab.StartInNetworkOf(p.node, p.clientCPUs, client); err != nil {
		return "", err
	}
	if err := client.Wait(); err != nil {
		return "", fmt.Errorf("%w: %s", err, complaints.String())
	}
	return out.String(), nil
}
