package supervisor

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

// Names outside of the cluster don't exist: an answer at once, where a refusal would be tried again.
const corefile = `cluster.local in-addr.arpa ip6.arpa {
  bind %[1]s
  errors
  ready %[1]s:8181
  kubernetes {
    kubeconfig %[2]s
    ttl 5
  }
}
. {
  bind %[1]s
  template ANY ANY {
    rcode NXDOMAIN
  }
}
`

// dnsService leads the address that Pods know to the process, which is no Pod.
const dnsService = `apiVersion: v1
kind: Service
metadata: {name: kube-dns, namespace: kube-system, labels: {k8s-app: kube-dns}}
spec:
  clusterIP: ` + DNSIP + `
  ports:
  - {name: dns, port: 53, protocol: UDP}
  - {name: dns-tcp, port: 53, protocol: TCP}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: kube-dns, namespace: kube-system, labels: {kubernetes.io/service-name: kube-dns}}
addressType: IPv4
endpoints:
- {addresses: [` + NodeIP + `], conditions: {ready: true}}
ports:
- {name: dns, port: 53, protocol: UDP}
- {name: dns-tcp, port: 53, protocol: TCP}
`

func (s *supervisor) startDNS(ctx context.Context) error {
	content := fmt.Sprintf(corefile, NodeIP, s.Dir.Kubeconfig("coredns"))
	if err := rundir.Write(s.Dir.Path("Corefile"), []byte(content), 0o644); err != nil {
		return err
	}
	if err := s.kube.apply(ctx, fieldOwner, "kube-system", []byte(dnsService)); err != nil {
		return err
	}
	if err := s.startParts(ctx, s.coreDNS()); err != nil {
		return err
	}
	probe := resolves("kubernetes.default.svc.cluster.local.")
	var last error
	err := wait.PollUntilContextTimeout(ctx, probeInterval, time.Minute, true, func(ctx context.Context) (bool, error) {
		last = probe(ctx)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("the cluster's DNS doesn't answer at %s: %w\n%s", DNSIP, last, rundir.Tail(s.Dir.Log("kube-proxy")))
	}
	return nil
}

func (s *supervisor) coreDNS() *part {
	return &part{
		name:  "coredns",
		path:  s.Binaries["coredns"],
		args:  []string{"-conf", s.Dir.Path("Corefile")},
		ready: healthy(fmt.Sprintf("http://%s:8181/ready", NodeIP)),
	}
}
