// Command migrate writes a Memcached for a cache of Amazon ElastiCache or Google Memorystore.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/example-inc/memcached-operator/scripts/cli"
)

func main() { cli.Main(newCommand()) }

// options are what the descriptions of the services do not have.
type options struct {
	namespace string
	memory    *resource.Quantity // of one server; nil: as described
}

func newCommand() *cobra.Command {
	o := options{}
	var memory string
	command := &cobra.Command{
		Use:   "migrate [file]",
		Short: "Write a Memcached for a cache of Amazon ElastiCache or Google Memorystore",
		Long: "Migrate reads the description of a cache, from a file or its input, as the program of the service prints\n" +
			"it, and prints a Memcached, to edit and apply. What it could not translate goes to standard error, a line\n" +
			"each. It connects to nothing. docs/leaving.md has the steps.",
		Example: "  gcloud memcache instances describe shop --region europe-west1 --format json |\n" +
			"    go run ./scripts/migrate --namespace team >shop.yaml\n" +
			"  aws elasticache describe-cache-clusters --cache-cluster-id shop --show-cache-node-info --output json |\n" +
			"    go run ./scripts/migrate --namespace team --memory 6537Mi >shop.yaml",
		Args: cobra.MaximumNArgs(1),
	}
	command.Flags().StringVar(&o.namespace, "namespace", "", "namespace of the Memcached (default: none is written)")
	command.Flags().StringVar(&memory, "memory", "",
		"memory for items of one server, limit_maxbytes of its stats: ElastiCache does not describe it")
	command.RunE = func(command *cobra.Command, args []string) error {
		if memory != "" {
			quantity, err := resource.ParseQuantity(memory)
			if err != nil {
				return fmt.Errorf("--memory %s: %w", memory, err)
			}
			o.memory = &quantity
		}
		content, err := input(command.InOrStdin(), args)
		if err != nil {
			return err
		}
		return migrate(content, o, command.OutOrStdout(), command.ErrOrStderr())
	}
	return command
}

func input(standard io.Reader, args []string) ([]byte, error) {
	if len(args) == 0 || args[0] == "-" {
		return io.ReadAll(standard)
	}
	return os.ReadFile(args[0])
}

// migrate writes the manifests of all described caches to one place, and what was not translated to another.
func migrate(content []byte, o options, manifests, reports io.Writer) error {
	caches, err := read(content, o)
	if err != nil {
		return err
	}
	var documents []string
	for _, cache := range caches {
		document, err := cache.manifest(o.namespace)
		if err != nil {
			return err
		}
		documents = append(documents, document)
		for _, report := range cache.reports {
			if _, err := fmt.Fprintf(reports, "%s: %s\n", cache.name, report); err != nil {
				return err
			}
		}
	}
	_, err = io.WriteString(manifests, strings.Join(documents, "---\n"))
	return err
}
