// Argocd is the two programs of Argo CD that the local cluster runs, in one file. The name by which the file is called
// decides which of the two programs runs. Argo CD's own main has more programs, such as its command line and its
// server, which would be a third more code to compile.
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
