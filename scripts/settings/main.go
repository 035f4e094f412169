// Command settings writes and shows gitops/settings/settings.yaml: where the Git repository and
// the images are that Argo CD works with.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

func main() {
	command := newCommand()
	if err := command.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func newCommand() *cobra.Command {
	var path, output string
	root := &cobra.Command{
		Use:           "settings",
		Short:         "Write and show the settings of gitops/",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.PersistentFlags().StringVar(&path, "file", values.Path, "the settings file")
	root.PersistentFlags().StringVarP(&output, "output", "o", "text", "text or json")
	root.AddCommand(initCommand(&path, &output), showCommand(&path, &output))
	return root
}

func initCommand(path, output *string) *cobra.Command {
	var c values.Choices
	command := &cobra.Command{
		Use:   "init",
		Short: "Rewrite the settings, keeping their comments and order",
		Long: "Init checks all values before it writes any. Commit and push the file afterwards: what\n" +
			"Argo CD does not find in Git is not there.",
		Example: "  go run ./scripts/settings init --repo https://git.example.com/team/memcached-operator.git \\\n" +
			"    --revision main --registry registry.example.com/team --version 0.1.0",
		Args: cobra.NoArgs,
	}
	flags := command.Flags()
	flags.StringVar(&c.Repo, "repo", "", "URL of the Git repository, as Argo CD reaches it (required)")
	flags.StringVar(&c.Revision, "revision", "", "branch, tag or commit to follow (required)")
	flags.StringVar(&c.Registry, "registry", "", "registry of the operator's image, host and path (required)")
	flags.StringVar(&c.Version, "version", "", "version of the operator's image (default: the one in the file)")
	flags.StringVar(&c.Architecture, "architecture", "", "overlay to install: "+strings.Join(values.Architectures(), ", ")+
		" (default: the one in the file)")
	flags.StringVar(&c.ArgoCDNamespace, "argocd-namespace", "", "namespace of Argo CD (default: the one in the file)")
	flags.StringVar(&c.CatalogImage, "catalog-image", "",
		"catalog by digest (default: the one in the file, in this registry)")
	flags.StringVar(&c.AgentImage, "agent-image", "",
		"image of the agent in caches' Pods (default: the one in the file, in this registry)")
	flags.StringVar(&c.MemcachedImage, "memcached-image", "", "default memcached image (default: the one in the file)")
	command.RunE = func(command *cobra.Command, _ []string) error {
		f, err := values.Load(*path)
		if err != nil {
			return err
		}
		changed, err := f.Init(c)
		if err != nil {
			return err
		}
		out := command.OutOrStdout()
		if err := show(out, *output, f); err != nil || *output == "json" {
			return err
		}
		if changed {
			fmt.Fprintf(out, "\n%s is written. Commit and push it: Argo CD reads it from Git.\n", *path)
		} else {
			fmt.Fprintf(out, "\n%s had these values already.\n", *path)
		}
		return nil
	}
	return command
}

func showCommand(path, output *string) *cobra.Command {
	return &cobra.Command{
		Use:     "show",
		Short:   "Show the settings, and whether they are still the placeholders",
		Example: "  go run ./scripts/settings show -o json",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			f, err := values.Load(*path)
			if err != nil {
				return err
			}
			return show(command.OutOrStdout(), *output, f)
		},
	}
}

func show(out io.Writer, format string, f *values.File) error {
	s, err := f.Settings()
	if err != nil {
		return err
	}
	switch format {
	case "json":
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(struct {
			values.Settings
			Placeholders []string `json:"placeholders"`
		}{s, s.Placeholders()})
	case "text":
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintf(table, "repoURL\t%s\nrevision\t%s\n", s.RepoURL, s.Revision)
		fmt.Fprintf(table, "argocdNamespace\t%s\narchitecture\t%s\n", s.ArgoCDNamespace, s.Architecture)
		fmt.Fprintf(table, "operatorImage\t%s\nmemcachedImage\t%s\n", s.OperatorImage, s.MemcachedImage)
		fmt.Fprintf(table, "agentImage\t%s\ncatalogImage\t%s\n", s.AgentImage, s.CatalogImage)
		if err := table.Flush(); err != nil {
			return err
		}
		if names := s.Placeholders(); len(names) > 0 {
			fmt.Fprintf(out, "\nStill placeholders: %s. Nothing can be deployed from Git before\n"+
				"  make gitops-init REPO=... REVISION=... REGISTRY=...\n", strings.Join(names, ", "))
		}
		return nil
	default:
		return fmt.Errorf("--output %q: text and json are possible", format)
	}
}
