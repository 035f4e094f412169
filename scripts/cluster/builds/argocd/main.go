// Argocd is the two programs of Argo CD that the local cluster runs, in one file. It acts by the name that it is called
// with. Argo CD's own main has more of them, and with its command line and its server a third more code to compile.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	controller "github.com/argoproj/argo-cd/v3/cmd/argocd-application-controller/commands"
	reposerver "github.com/argoproj/argo-cd/v3/cmd/argocd-repo-server/commands"
	"github.com/spf13/cobra"
)

var programs = map[string]func() *cobra.Command{
	"argocd-application-controller": controller.NewCommand,
	"argocd-repo-server":            reposerver.NewCommand,
}

func main() {
	newCommand, ok := programs[filepath.Base(os.Args[0])]
	if !ok {
		fmt.Fprintf(os.Stderr, "this file acts by its name, and has no program %q\n", os.Args[0])
		os.Exit(2)
	}
	if err := newCommand().Execute(); err != nil {
		os.Exit(1)
	}
}
