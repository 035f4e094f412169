package local

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"syscall"

	"github.com/example-inc/memcached-operator/scripts/cluster/supervisor"
)

// Where the ports of a cluster are looked for: a second cluster finds the next ones. Those that its processes open
// themselves are free for a moment before, so each cluster looks for them elsewhere, where no system assigns ports.
const (
	firstAPIPort      = 16443
	firstRegistryPort = 15001
	firstOther        = 17000
	manyOthers        = 10000
	portsTried        = 50
)

// port listens on the loopback interface of the machine.
type port struct {
	number int
	file   *os.File // the listening socket
}

// ports are those of a cluster: API, registry, etcd and its peer.
type ports [4]port

func openPorts(simulated bool) (p ports, err error) {
	firsts := []int{firstAPIPort, firstRegistryPort, firstOther + rand.N(manyOthers), firstOther + rand.N(manyOthers)}
	if simulated {
		firsts[0] = firstOther + rand.N(manyOthers)
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
	return supervisor.Ports{API: p[0].number, Registry: p[1].number, Etcd: p[2].number, EtcdPeer: p[3].number}
}

// Close closes this process's copies of the sockets. The cluster has its own, or makes some at the same ports.
func (p ports) Close() {
	for _, port := range p {
		port.file.Close()
	}
}

func openPort(first int) (port, error) {
	for number := first; number < first+portsTried; number++ {
		listener, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", number))
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			return port{}, err
		}
		defer listener.Close()
		file, err := listener.(*net.TCPListener).File()
		return port{number, file}, err
	}
	return port{}, fmt.Errorf("no free port from %d to %d", first, first+portsTried-1)
}
