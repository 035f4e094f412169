// Node is the programs of Kubernetes that run on a Node, in one file. The name by which the file is called decides
// which of the programs runs.
package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	programs := map[string]func() *cobra.Command{
		"kubelet":    newKubelet,
		"kubelet-2":  newKubelet, // the kubelet of a second Node
		"kube-proxy": proxy.NewProxyCommand,
	}
	os.Exit(cli.Run(programs[filepath.Base(os.Args[0])]()))
}

func newKubelet() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) }
