package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// setUp makes the network of a Node that leads nowhere else: the Node's address on one end of a cable whose other end
// is in the same namespace.
func (n Network) setUp() error {
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
	address, err := netlink.ParseAddr(n.NodeIP + "/24")
	if err != nil {
		return err
	}
	if err := netlink.AddrAdd(node0, address); err != nil {
		return fmt.Errorf("add %s: %w", address, err)
	}
	if err := n.addRoutes(node0); err != nil {
		return err
	}
	return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0)
}

// addRoutes lets packets to Services leave a process, as kube-proxy rewrites them only afterwards, and refuses
// everything that isn't the cluster's at once instead of letting it time out.
func (n Network) addRoutes(node0 netlink.Link) error {
	_, services, err := net.ParseCIDR(n.Services)
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
