package slot

import (
	"errors"
	"net"
	"net/netip"
	"testing"
)

func TestWhoHasASlotByItsName(t *testing.T) {
	own := []net.Addr{
		&net.IPNet{IP: net.IPv4(127, 0, 0, 1), Mask: net.CIDRMask(8, 32)},
		&net.IPNet{IP: net.IPv4(10, 0, 0, 7), Mask: net.CIDRMask(24, 32)},
		&net.IPNet{IP: net.ParseIP("fd00::7"), Mask: net.CIDRMask(64, 128)},
	}
	tests := map[string]struct {
		addresses []string
		err       error
		want      Holder
	}{
		"the Pod's own address":             {[]string{"10.0.0.7"}, nil, ThisPod},
		"the same, as an IPv6 address":      {[]string{"::ffff:10.0.0.7"}, nil, ThisPod},
		"the Pod's own IPv6 address":        {[]string{"fd00::7"}, nil, ThisPod},
		"another address":                   {[]string{"10.0.0.8"}, nil, AnotherPod},
		"no such name":                      {nil, &net.DNSError{IsNotFound: true}, NoPod},
		"a DNS server that does not answer": {nil, &net.DNSError{IsTimeout: true}, Unknown},
		"another error":                     {nil, errors.New("no file /etc/resolv.conf"), Unknown},
		"an answer without addresses":       {nil, nil, Unknown},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var addresses []netip.Addr
			for _, address := range test.addresses {
				addresses = append(addresses, netip.MustParseAddr(address))
			}
			if got := holderOf(addresses, test.err, own); got != test.want {
				t.Errorf("%d, want %d", got, test.want)
			}
		})
	}
}

func TestTheNameOfASlot(t *testing.T) {
	const cluster = "search team.svc.cluster.local svc.cluster.local cluster.local example.com\nnameserver 10.96.0.10\noptions ndots:5\n"
	tests := map[string]struct{ slot, resolvConf, want string }{
		"in a cluster":                         {"shop-0", cluster, "shop-0.shop-slots.team.svc.cluster.local."},
		"of a cache with a hyphen in its name": {"my-shop-12", cluster, "my-shop-12.my-shop-slots.team.svc.cluster.local."},
		"in a namespace named svc":             {"shop-0", "search svc.svc.corp svc.corp corp\n", "shop-0.shop-slots.svc.svc.corp."},
		"with a domain of the user first":      {"shop-0", "search example.com team.svc.corp. svc.corp corp\n", "shop-0.shop-slots.team.svc.corp."},
		"without a domain of the cluster":      {"shop-0", "search example.com\nnameserver 8.8.8.8\n", ""},
		"without a file":                       {"shop-0", "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := hostOf(test.slot, test.resolvConf); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
