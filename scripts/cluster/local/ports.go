package local

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"syscall"

	"github.com/example-inc/memcached-operator/scripts/cluster/supervisor"
)

// A cluster takes the first free API and registry ports from these numbers on, so a second cluster finds the next
// ports. This process closes some ports before the cluster's processes open them again, and another cluster could take
// them in between. So each cluster looks for its other ports from a random number on, in a range in which no system
// assigns ports.
const (
	firstAPIPort      = 16443
	firstRegistryPort = 15001
	firstOther        = 17000
	manyOthers        = 10000
	portsTried        = 50
)

// ports are sockets on the machine's loopback interface: for the API server, the registry, etcd and etcd's peers.
type ports [4]*net.TCPListener

func openPorts(simulated bool) (p ports, err error) {
	other := func() int { return firstOther + rand.N(manyOthers) }
	firsts := []int{firstAPIPort, firstRegistryPort, other(), other()}
	if simulated {
		firsts[0] = other()
	}
	for i, first := range firsts {
		if p[i], err = openPort(first); err != nil {
			p.Close()
			return p, err
		}
	}
	return p, nil
}

func (p ports) numbers() supervisor.Ports {
	number := func(i int) int { return p[i].Addr().(*net.TCPAddr).Port }
	return supervisor.Ports{API: number(0), Registry: number(1), Etcd: number(2), EtcdPeer: number(3)}
}

// Close closes this process's copies of the sockets. The cluster has its own copies, or opens new sockets at the same
// ports.
func (p ports) Close() {
	for _, listener := range p {
		listener.Close() // closing a closed or a nil listener does no harm
	}
}

func openPort(first int) (*net.TCPListener, error) {
	for number := first; number < first+portsTried; number++ {
		listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: number})
		if !errors.Is(err, syscall.EADDRINUSE) {
			return listener, err
		}
	}
	return nil, fmt.Errorf("no free port from %d to %d", first, first+portsTried-1)
}
