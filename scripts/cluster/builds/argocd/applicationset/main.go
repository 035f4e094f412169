// Applicationset is the controller that makes Applications of ApplicationSets.
package main

import (
	command "github.com/argoproj/argo-cd/v3/cmd/argocd-applicationset-controller/commands"
	"github.com/spf13/cobra"
)

func main() { cobra.CheckErr(command.NewCommand().Execute()) }
