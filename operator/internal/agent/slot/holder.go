package slot

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// lookupTimeout limits a question to the DNS servers.
const lookupTimeout = 5 * time.Second

// HolderByName finds out who has a slot by the name that clients use.
func HolderByName(ctx context.Context, slot string) Holder {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", hostOf(slot))
	own, ownErr := net.InterfaceAddrs()
	if ownErr != nil {
		return Unknown
	}
	return holderOf(addresses, err, own)
}

// hostOf returns the name of a slot within its namespace: shop-0.shop-slots for shop-0. The domains to search, which
// every Pod has, complete it.
func hostOf(slot string) string {
	cache := slot[:max(strings.LastIndex(slot, "-"), 0)]
	return slot + "." + names.SlotService(cache)
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

// IsCopied reports whether a client watches the log of a memcached, as the agent of a successor does while it copies,
// and until this memcached has ended.
func IsCopied(ctx context.Context, dial handoff.Dial) bool {
	ctx, cancel := context.WithTimeout(ctx, protocol.Timeout)
	defer cancel()
	connection, err := dial(ctx)
	if err != nil {
		return false
	}
	defer connection.Close()
	stats, err := protocol.New(connection).Stats(ctx, "")
	return err == nil && stats["log_watchers"] != "" && stats["log_watchers"] != "0"
}
