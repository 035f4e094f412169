package local

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// Where the ports of a cluster are looked for: a second cluster finds the next ones.
const (
	firstAPIPort      = 16443
	firstRegistryPort = 15001
	portsTried        = 50
)

// port listens on the loopback interface of the machine.
type port struct {
	number int
	file   *os.File // the listening socket, to be handed over
}

// ports are the doors of a cluster.
type ports struct{ api, registry port }

func openPorts() (*ports, error) {
	api, err := openPort(firstAPIPort)
	if err != nil {
		return nil, err
	}
	registry, err := openPort(firstRegistryPort)
	if err != nil {
		api.file.Close()
		return nil, err
	}
	return &ports{api, registry}, nil
}

// Close closes this process's copies of the sockets. The cluster has its own.
func (p *ports) Close() error { return errors.Join(p.api.file.Close(), p.registry.file.Close()) }

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
