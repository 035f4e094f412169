// The memcached operator.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/example-inc/memcached-operator/operator/internal/app"
)

// version is set by the linker.
var version = "dev"

const usage = `The memcached operator makes Deployments and Services for Memcached resources.

Usage:
  manager [flags]

Example, on your own machine against the cluster of your kubeconfig:
  manager --metrics-bind-address=0 --watch-namespaces=caches

Flags:
`

func main() {
	options := app.NewOptions()
	options.AddFlags(pflag.CommandLine)
	pflag.Usage = func() { fmt.Fprint(os.Stderr, usage, pflag.CommandLine.FlagUsages()) }
	pflag.Parse()
	if options.ShowVersion {
		fmt.Println(version)
		return
	}
	app.BoundMemory()
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&options.Log)))
	log := ctrl.Log.WithName("main")
	log.Info("Starting the memcached operator", "version", version)
	config, err := ctrl.GetConfig()
	if err == nil {
		err = app.Run(ctrl.SetupSignalHandler(), config, options)
	}
	if err != nil {
		log.Error(err, "The memcached operator ended")
		os.Exit(1)
	}
}
