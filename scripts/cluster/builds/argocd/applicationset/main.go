// Applicationset is Argo CD's controller that makes Applications from ApplicationSets.
package main

import (
	command "github.com/argoproj/argo-cd/v3/cmd/argocd-applicationset-controller/commands"
	"github.com/spf13/cobra"
)

func main() { cobra.CheckErr(command.NewCommand().Execute()) }
