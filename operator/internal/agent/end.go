package agent

// Ends memcached in a Pod with a slot, by two preStop hooks. The hook of the agent's container sends a request to the
// running agent, which knows the slot. The agent waits until another Pod has the slot, and then ends memcached by a
// signal, because only this signal makes memcached send the end of its log. The hook of memcached's container keeps the
// kubelet from ending memcached before that.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/reload"
	"github.com/example-inc/memcached-operator/operator/internal/agent/slot"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

const (
	// endTimeout limits one attempt to reach memcached.
	endTimeout = 5 * time.Second

	// endWithin limits all attempts to find memcached and to end it. After that, the kubelet ends memcached. This does no
	// harm, because nobody can use a memcached that hangs, or copy its keys.
	endWithin = 15 * time.Second

	endInterval = 200 * time.Millisecond

	// hookPatience is how long the hook of memcached waits for the hook of the agent. The kubelet starts both hooks at the
	// same time, but on a busy Node the agent's hook may start later. mostEarly is how many requests for memcached's hook
	// may wait for the agent's hook. Without this limit, other clients could use up all connections with such requests.
	hookPatience = time.Minute
	mostEarly    = 4
)

// Paths of the hooks.
const (
	terminatePath = "/terminate"
	endedPath     = "/ended"
)

// End is the preStop hook of the agent. It instructs the agent in the same Pod to end memcached as soon as the Pod is
// not needed any more. It returns when memcached has ended.
func End(ctx context.Context, options *Options) error {
	_, port, err := net.SplitHostPort(options.ProbeAddress)
	if err != nil {
		return fmt.Errorf("--health-probe-bind-address %q: the agent must serve there: %w", options.ProbeAddress, err)
	}
	url := "http://" + net.JoinHostPort("localhost", port) + terminatePath
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, http.NoBody)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
		return fmt.Errorf("the agent answers %s: %s", answer.Status, strings.TrimSpace(string(text)))
	}
	return nil
}

// ender ends memcached in a Pod that terminates.
type ender struct {
	*agent
	follower *slot.Follower

	once  sync.Once
	begun chan struct{} // closed when the Pod begins to terminate
	ended chan struct{} // closed when memcached has ended
	early chan struct{} // holds an element for each request that waits for begun
	done  <-chan struct{}
}

func (a *agent) ender(ctx context.Context, follower *slot.Follower) *ender {
	return &ender{
		agent: a, follower: follower, begun: make(chan struct{}), ended: make(chan struct{}),
		early: make(chan struct{}, mostEarly), done: ctx.Done(),
	}
}

// terminate answers the agent's hook. It accepts only requests of a process in the Pod.
func (e *ender) terminate(w http.ResponseWriter, r *http.Request) {
	if !isLocal(r) {
		http.Error(w, "only a process in this Pod may end memcached", http.StatusForbidden)
		return
	}
	e.once.Do(func() {
		close(e.begun)
		go e.end(context.WithoutCancel(r.Context()))
	})
	e.answerWhenEnded(w, r)
}

// isLocal reports whether a request comes from within the Pod, and arrives at its loopback interface. Requests through
// a proxy in the Pod arrive at another address.
func isLocal(r *http.Request) bool {
	to, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	for _, address := range []string{r.RemoteAddr, fmt.Sprint(to)} {
		parsed, err := netip.ParseAddrPort(address)
		if err != nil || !parsed.Addr().Unmap().IsLoopback() {
			return false
		}
	}
	return true
}

// waitUntilEnded answers memcached's hook, which is a request that the kubelet sends from outside of the Pod.
func (e *ender) waitUntilEnded(w http.ResponseWriter, r *http.Request) {
	select {
	case e.early <- struct{}{}:
		defer func() { <-e.early }()
	case <-e.begun:
	default:
		http.Error(w, "too many requests wait for the end of the Pod", http.StatusServiceUnavailable)
		return
	}
	select {
	case <-e.begun:
		e.answerWhenEnded(w, r)
	case <-r.Context().Done():
	case <-time.After(hookPatience):
		http.Error(w, "the Pod does not terminate", http.StatusServiceUnavailable)
	}
}

func (e *ender) answerWhenEnded(w http.ResponseWriter, r *http.Request) {
	select {
	case <-e.ended:
		fmt.Fprintln(w, "memcached has ended")
	case <-r.Context().Done():
	case <-e.done:
		http.Error(w, "the agent ends", http.StatusServiceUnavailable)
	}
}

// end ends memcached when it is not needed any more. It returns when memcached has ended.
func (e *ender) end(ctx context.Context) {
	defer close(e.ended)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pid, err := e.findMemcached(ctx)
	if err != nil {
		e.log.Info("memcached does not run, or does not answer", "error", err)
		return
	}
	go func() { // With the role Leave, the Follower may end memcached first.
		for reload.IsMemcached(e.options.Proc, pid) && pause(ctx) == nil {
		}
		cancel()
	}()
	termination := slot.Termination{
		Drain: e.options.TerminationDelay, Timeout: e.options.HandoffTimeout, Log: e.log,
		Holder: slot.HolderByName, Copied: e.copier.IsCopied,
	}
	if order := e.order(ctx); order != nil {
		termination.Wait(ctx, *order)
	}
	ctx, stop := context.WithTimeout(ctx, endWithin)
	defer stop()
	for ctx.Err() == nil {
		if err := e.copier.End(ctx); err != nil && ctx.Err() == nil {
			e.log.Warn("memcached cannot be ended yet", "error", err)
		}
		_ = pause(ctx)
	}
}

// order waits until the instruction has been read, and returns it; nil if it cannot be read.
func (e *ender) order(ctx context.Context) *instruction.Instruction {
	ctx, stop := context.WithTimeout(ctx, endWithin)
	defer stop()
	for e.follower.Order() == nil && pause(ctx) == nil {
	}
	return e.follower.Order()
}

// findMemcached returns the process id of memcached, or an error if it does not run or hangs.
func (e *ender) findMemcached(ctx context.Context) (int, error) {
	ctx, stop := context.WithTimeout(ctx, endWithin)
	defer stop()
	for {
		attempt, cancel := context.WithTimeout(ctx, endTimeout)
		pid, err := processOf(attempt, e.dialOwn)
		cancel()
		if err == nil || errors.Is(err, syscall.ECONNREFUSED) {
			return pid, err
		}
		if err := pause(ctx); err != nil {
			return 0, err
		}
	}
}

func pause(ctx context.Context) error { return handoff.Wait(ctx, endInterval) }
