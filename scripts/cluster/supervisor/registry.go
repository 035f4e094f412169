package supervisor

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

// newRegistry serves images whose layers lie on disk.
func newRegistry(dir rundir.Dir) (http.Handler, error) {
	file, err := dir.OpenLog("registry")
	if err != nil {
		return nil, err
	}
	blobs := dir.Path("registry")
	if err := os.MkdirAll(blobs, 0o755); err != nil {
		return nil, err
	}
	return registry.New(
		registry.WithBlobHandler(registry.NewDiskBlobHandler(blobs)),
		registry.WithReferrersSupport(true),
		registry.Logger(log.New(file, "", log.LstdFlags)),
	), nil
}

// forward passes each connection that is made to a listener on to an address.
func forward(from net.Listener, to string) {
	for {
		conn, err := from.Accept()
		if err != nil {
			fmt.Fprintf(os.Stderr, "forward to %s: %v\n", to, err)
			return
		}
		go pass(conn.(*net.TCPConn), to)
	}
}

func pass(client *net.TCPConn, to string) {
	defer client.Close()
	server, err := net.Dial("tcp", to)
	if err != nil {
		return // the client sees its connection close, as with any server that is down
	}
	defer server.Close()
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _ = io.Copy(client, server)
		_ = client.CloseWrite()
	}()
	_, _ = io.Copy(server, client)
	_ = server.(*net.TCPConn).CloseWrite()
	<-answered
}
