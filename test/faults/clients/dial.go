package clients

import (
	"context"
	"net"
	"runtime"

	"github.com/vishvananda/netns"
)

// InNetworkOf connects as a process does that may be in a network of its own. It needs root, and Linux.
func InNetworkOf(pid func() (int, error)) Dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		type result struct {
			connection net.Conn
			err        error
		}
		done := make(chan result, 1)
		go func() {
			runtime.LockOSThread() // For good: the thread ends with the goroutine.
			if err := enter(pid); err != nil {
				done <- result{nil, err}
				return
			}
			connection, err := (&net.Dialer{}).DialContext(ctx, network, address)
			done <- result{connection, err}
		}()
		r := <-done
		return r.connection, r.err
	}
}

func enter(pid func() (int, error)) error {
	process, err := pid()
	if err != nil {
		return err
	}
	namespace, err := netns.GetFromPid(process)
	if err != nil {
		return err
	}
	defer namespace.Close()
	return netns.Set(namespace)
}
