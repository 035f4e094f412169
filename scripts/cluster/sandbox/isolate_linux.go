package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Attributes returns attributes that start a process in its own session, so that Ctrl-C at the terminal does not reach
// it. If isolated is set, they also start it in new namespaces. A socket stays in the network namespace in which it was
// made.
func Attributes(isolated bool) *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setsid: true}
	if isolated {
		attributes.Cloneflags = unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWNET
	}
	return attributes
}

// Enter isolates the calling process, which is the first process in its new namespaces. It gives the process a network
// with the addresses of Nodes and a range of addresses for Services. It keeps the folders in keep visible, even if they
// are in a covered folder.
func Enter(cgroup string, nodeIPs []string, services string, keep []string) error {
	if err := join(cgroup); err != nil {
		return err
	}
	if err := isolate(keep); err != nil {
		return err
	}
	if err := setUpNetwork(nodeIPs, services); err != nil {
		return fmt.Errorf("set up the network: %w", err)
	}
	return nil
}

// covered are the folders in which programs write at fixed places (sockets, network namespaces, address leases, logs).
// Instead of each, the cluster sees an empty folder, which is deleted with the cluster.
var covered = []string{"/run", "/var", "/tmp"}

// isolate separates the cluster's mount namespace from the machine's: later mounts in the cluster are not visible
// outside. The cluster still sees the machine's files, except those in the covered folders.
func isolate(keep []string) error {
	// First, all mounts become slaves, so that new mounts stay inside. Then they become shared, because containers must
	// see the kubelet's mounts.
	for _, propagation := range []uintptr{unix.MS_SLAVE, unix.MS_SHARED} {
		if err := unix.Mount("", "/", "", unix.MS_REC|propagation, ""); err != nil {
			return fmt.Errorf("set mount propagation: %w", err)
		}
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	kept, err := open(isCovered(keep))
	if err != nil {
		return err
	}
	for _, dir := range covered {
		if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
			return fmt.Errorf("cover %s: %w", dir, err)
		}
	}
	for _, file := range kept {
		if err := uncover(file); err != nil {
			return fmt.Errorf("keep %s: %w", file.Name(), err)
		}
	}
	return errors.Join(os.Chmod("/tmp", 0o1777), os.Symlink("/run", "/var/run"), os.MkdirAll("/var/tmp", 0o1777))
}

func isCovered(dirs []string) []string {
	return slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool {
		return !slices.ContainsFunc(covered, func(cover string) bool { return strings.HasPrefix(dir, cover+"/") })
	})
}

func open(dirs []string) (files []*os.File, err error) {
	for _, dir := range dirs {
		fd, err := unix.Open(dir, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", dir, err)
		}
		files = append(files, os.NewFile(uintptr(fd), dir))
	}
	return files, nil
}

// uncover mounts an open folder at the path that it had before the folder around it was covered.
func uncover(dir *os.File) error {
	defer dir.Close()
	if err := os.MkdirAll(dir.Name(), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return unix.Mount(fmt.Sprintf("/proc/self/fd/%d", dir.Fd()), dir.Name(), "", unix.MS_BIND, "")
}

// Reap reaps dead processes whose parents have ended, as the first process of a namespace has to do. It leaves the
// processes for which own returns true to the code that waits for them.
func Reap(own func(pid int) bool) {
	for range time.Tick(time.Second) {
		lists, _ := filepath.Glob("/proc/self/task/*/children")
		for _, list := range lists {
			content, _ := os.ReadFile(list)
			for field := range strings.FieldsSeq(string(content)) {
				if pid, err := strconv.Atoi(field); err == nil && !own(pid) {
					_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
				}
			}
		}
	}
}

// Snapshotter returns the name of the snapshotter that containerd uses for a folder. It is overlayfs, unless the folder
// itself is on an overlayfs, because an overlayfs on another one does not work.
func Snapshotter(dir string) string {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err == nil && stat.Type == unix.OVERLAYFS_SUPER_MAGIC {
		return "native"
	}
	return "overlayfs"
}

// setUpNetwork makes a network without a connection to any other network: the Nodes' addresses are on one end of a
// virtual cable (veth), whose other end is in the same network namespace.
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

// addRoutes adds a route for the addresses of Services, because kube-proxy rewrites packets only after they have been
// routed. It also makes connections to addresses outside of the cluster fail immediately, instead of after a timeout.
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
