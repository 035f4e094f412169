// Controlplane is the programs of Kubernetes that need no node, in one file: most of their code is the same, and is
// linked once. It acts by the name that it is called with.
package main

import (
	"os"
	_ "time/tzdata" // for the time zones of CronJobs

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds/kubernetes/multicall"
)

func main() {
	multicall.Main(os.Args[0], map[string]func(){
		"kube-apiserver":          serve(apiserver.NewAPIServerCommand),
		"kube-controller-manager": serve(controllermanager.NewControllerManagerCommand),
		"kube-scheduler":          serve(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
		"kubectl":                 func() { util.CheckErr(cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand())) },
	})
}

func serve(newCommand func() *cobra.Command) func() {
	return func() { os.Exit(cli.Run(newCommand())) }
}
