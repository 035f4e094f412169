package supervisor

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

// setupNetwork gives the namespace a node's network that leads nowhere else: the node's address
// on one end of a cable whose other end is in the same namespace.
func setupNetwork() error {
	cable := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "node0"}, PeerName: "node0-peer"}
	if err := netlink.LinkAdd(cable); err != nil {
		return fmt.Errorf("add node0: %w", err)
	}
	for _, name := range []string{"lo", "node0-peer", "node0"} {
		link, err := netlink.LinkByName(name)
		if err != nil {
			return err
		}
		if err := netlink.LinkSetUp(link); err != nil {
			return fmt.Errorf("set %s up: %w", name, err)
		}
	}
	node0, err := netlink.LinkByName("node0")
	if err != nil {
		return err
	}
	address, err := netlink.ParseAddr(NodeIP + "/24")
	if err != nil {
		return err
	}
	if err := netlink.AddrAdd(node0, address); err != nil {
		return fmt.Errorf("add %s: %w", address, err)
	}
	if err := addRoutes(node0); err != nil {
		return err
	}
	return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0)
}

// addRoutes lets packets to Services leave a process, as kube-proxy turns them only afterwards, and
// answers everything that isn't the cluster's at once instead of letting it time out.
func addRoutes(node0 netlink.Link) error {
	_, services, err := net.ParseCIDR(ServiceNetwork)
	if err != nil {
		return err
	}
	_, everything, err := net.ParseCIDR("0.0.0.0/0")
	if err != nil {
		return err
	}
	return errors.Join(
		netlink.RouteAdd(&netlink.Route{LinkIndex: node0.Attrs().Index, Dst: services, Scope: netlink.SCOPE_LINK}),
		netlink.RouteAdd(&netlink.Route{Dst: everything, Type: unix.RTN_UNREACHABLE}),
	)
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
