package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// setUpNetwork makes a network that leads nowhere else: the Nodes' addresses on one end of a cable whose other end is
// in the same namespace.
func setUpNetwork(nodeIPs []string, services string) error {
	node0 := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "node0"}, PeerName: "node0-peer"}
	if err := netlink.LinkAdd(node0); err != nil {
		return fmt.Errorf("add node0: %w", err)
	}
	for _, name := range []string{"lo", "node0-peer", "node0"} {
		if err := netlink.LinkSetUp(&netlink.Device{LinkAttrs: netlink.LinkAttrs{Name: name}}); err != nil {
			return fmt.Errorf("set %s up: %w", name, err)
		}
	}
	for _, ip := range nodeIPs {
		address, err := netlink.ParseAddr(ip + "/24")
		if err != nil {
			return err
		}
		if err := netlink.AddrAdd(node0, address); err != nil {
			return fmt.Errorf("add %s: %w", address, err)
		}
	}
	if err := addRoutes(node0, services); err != nil {
		return err
	}
	return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0)
}

// addRoutes lets packets to Services leave a process, as kube-proxy rewrites them only afterwards, and refuses
// everything that isn't the cluster's immediately instead of letting it time out.
func addRoutes(node0 netlink.Link, services string) error {
	within, err := netlink.ParseIPNet(services)
	if err != nil {
		return err
	}
	everything := &net.IPNet{IP: net.IPv4zero, Mask: net.CIDRMask(0, 32)}
	return errors.Join(
		netlink.RouteAdd(&netlink.Route{LinkIndex: node0.Attrs().Index, Dst: within, Scope: netlink.SCOPE_LINK}),
		netlink.RouteAdd(&netlink.Route{Dst: everything, Type: unix.RTN_UNREACHABLE}),
	)
}
