package slot

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// lookupTimeout limits how long a lookup at the DNS servers may take.
const lookupTimeout = 5 * time.Second

// resolvConf is where the kubelet writes the domains of the cluster.
const resolvConf = "/etc/resolv.conf"

// resolver reports a failed DNS server as an error, and not as a name that does not exist.
var resolver = &net.Resolver{PreferGo: true, StrictErrors: true}

// HolderByName finds out which Pod has a slot, by resolving the DNS name that clients use.
func HolderByName(ctx context.Context, slot string) Holder {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	content, err := os.ReadFile(resolvConf)
	host := hostOf(slot, string(content))
	own, ownErr := net.InterfaceAddrs()
	if err != nil || ownErr != nil || host == "" {
		return Unknown
	}
	addresses, err := resolver.LookupNetIP(ctx, "ip", host)
	return holderOf(addresses, err, own)
}

// hostOf returns the whole DNS name of a slot, such as shop-0.shop-slots.team.svc.cluster.local. for shop-0. It is
// empty if the domain of the Pod's namespace is not known. A shorter name would also be looked up at DNS servers
// outside of the cluster, and their answer would count if no such name exists in the cluster.
func hostOf(slot, resolvConf string) string {
	cache := slot[:max(strings.LastIndex(slot, "-"), 0)]
	for line := range strings.Lines(resolvConf) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != "search" {
			continue
		}
		for _, domain := range words[1:] {
			if _, rest, _ := strings.Cut(domain, "."); strings.HasPrefix(rest, "svc.") {
				return slot + "." + names.SlotService(cache) + "." + strings.TrimSuffix(domain, ".") + "."
			}
		}
	}
	return ""
}

func holderOf(addresses []netip.Addr, err error, own []net.Addr) Holder {
	var failure *net.DNSError
	switch {
	case errors.As(err, &failure) && failure.IsNotFound:
		return NoPod
	case err != nil || len(addresses) == 0:
		return Unknown
	}
	for _, address := range addresses {
		if slices.ContainsFunc(own, func(a net.Addr) bool {
			prefix, err := netip.ParsePrefix(a.String())
			return err == nil && prefix.Addr() == address.Unmap()
		}) {
			return ThisPod
		}
	}
	return AnotherPod
}

// IsCopied reports whether another client watches the log of this memcached. The agent of a successor does so from the
// beginning of its copy until this memcached has ended.
func (m *Memcached) IsCopied(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, protocol.Timeout)
	defer cancel()
	connection, err := m.Own(ctx)
	if err != nil {
		return false
	}
	defer connection.Close()
	stats, err := protocol.New(connection).Stats(ctx, "")
	watchers, _ := strconv.Atoi(stats["log_watchers"])
	return err == nil && watchers > m.ownWatchers()
}

// ownWatchers returns how many watchers of the log are this agent's own: for its handoff, and to observe how its
// memcached is used.
func (m *Memcached) ownWatchers() (count int) {
	if m.Watching != nil {
		count = m.Watching()
	}
	if m.Tracker.Now() != nil {
		count++
	}
	return count
}
