// Command migrate writes a Memcached for a cache of Amazon ElastiCache or Google Memorystore, or of a Helm chart.
package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/clienthash"
	"github.com/example-inc/memcached-operator/scripts/cli"
)

func main() { cli.Main(newCommand()) }

// options are what the descriptions of the services do not have.
type options struct {
	namespace string
	memory    *resource.Quantity // of one server; nil: as described

	chart, release, releaseNamespace string
	clientHash                       cachev1.ClientHash
}

func newCommand() *cobra.Command {
	o := options{}
	var memory string
	command := &cobra.Command{
		Use:   "migrate [file]",
		Short: "Write a Memcached for a cache of Amazon ElastiCache or Google Memorystore, or of a Helm chart",
		Long: "Migrate reads the description of a cache, from a file or its input, as the program of the service prints\n" +
			"it, or the values of a Helm release, and prints a Memcached, to edit and apply. What it could not translate\n" +
			"goes to standard error. It connects to nothing. docs/leaving.md and docs/migrating.md have the steps.",
		Example: "  gcloud memcache instances describe shop --region europe-west1 --format json |\n" +
			"    go run ./scripts/migrate --namespace team >shop.yaml\n" +
			"  aws elasticache describe-cache-clusters --cache-cluster-id shop --show-cache-node-info --output json |\n" +
			"    go run ./scripts/migrate --namespace team --memory 6537Mi >shop.yaml\n" +
			"  helm get values sessions -n team --all -o json |\n" +
			"    go run ./scripts/migrate --chart bitnami --release sessions --release-namespace team >sessions.yaml",
		Args: cobra.MaximumNArgs(1),
	}
	command.Flags().StringVar(&o.namespace, "namespace", "", "namespace of the Memcached (default: none is written)")
	command.Flags().StringVar(&memory, "memory", "",
		"memory for items of one server, limit_maxbytes of its stats: ElastiCache does not describe it")
	command.Flags().StringVar(&o.chart, "chart", "",
		"chart of the values: bitnami, cloudpirates or helmforge (default: guessed from the values)")
	command.Flags().StringVar(&o.release, "release", "", "name of the Helm release; values do not have it")
	command.Flags().StringVar(&o.releaseNamespace, "release-namespace", "",
		"namespace of the Helm release, and of the Memcached without --namespace")
	command.Flags().StringVar((*string)(&o.clientHash), "client-hash", "",
		"how clients choose the slot of a key, as spec.slots.clientHash: Ketama, CRC32Modulo, JumpSorted or Rendezvous")
	command.RunE = func(command *cobra.Command, args []string) error {
		if o.clientHash != "" && !slices.Contains(clienthash.Algorithms, clienthash.Algorithm(o.clientHash)) {
			return fmt.Errorf("--client-hash %s: use one of %v", o.clientHash, clienthash.Algorithms)
		}
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
		document, err := cache.manifest()
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
