// Argocd is the two programs of Argo CD that the local cluster runs, in one file. It acts by the name that it is called
// with. Argo CD's own main has more of them, and with its command line and its server a third more code to compile.
package main

import (
	"os"
	"path/filepath"

	controller "github.com/argoproj/argo-cd/v3/cmd/argocd-application-controller/commands"
	reposerver "github.com/argoproj/argo-cd/v3/cmd/argocd-repo-server/commands"
	"github.com/spf13/cobra"
)

func main() {
	programs := map[string]func() *cobra.Command{
		"argocd-application-controller": controller.NewCommand,
		"argocd-repo-server":            reposerver.NewCommand,
	}
	if programs[filepath.Base(os.Args[0])]().Execute() != nil {
		os.Exit(1)
	}
}
