// Node is the programs of Kubernetes that run on a node, in one file. It acts by the name that it is called with.
package main

import (
	"context"
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds/kubernetes/multicall"
)

func main() {
	multicall.Main(os.Args[0], map[string]func(){
		"kubelet":    func() { os.Exit(cli.Run(kubelet.NewKubeletCommand(context.Background()))) },
		"kube-proxy": func() { os.Exit(cli.Run(proxy.NewProxyCommand())) },
	})
}
