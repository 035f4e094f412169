package commands

// The command import.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/apimachinery/pkg/api/resource"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/clienthash"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/migrate"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/owner"
)

type importOptions struct {
	migrate.Options

	memory, clientHash string
}

func newImport(p *plugin) *cobra.Command {
	options := &importOptions{}
	command := &cobra.Command{
		Use:   "import [FILE|-]",
		Short: "Convert the values of a chart, or the description of a managed cache, into a Memcached",
		Long: "Reads the values of a Helm release, or the description of a cache of Amazon ElastiCache or Google " +
			"Memorystore, from a\nfile or stdin, and prints a Memcached, to edit and apply. Reports about settings that " +
			"could not be translated go to standard error. It\nconnects to no cluster: --namespace is only the namespace " +
			"in the manifest.",
		Example: "  helm get values sessions -n team --all -o json |\n" +
			"    kubectl memcached import --release sessions --release-namespace team >sessions.yaml\n" +
			"  gcloud memcache instances describe shop --region europe-west1 --format json |\n" +
			"    kubectl memcached import -n team >shop.yaml\n" +
			"  aws elasticache describe-cache-clusters --cache-cluster-id shop --show-cache-node-info --output json |\n" +
			"    kubectl memcached import -n team --memory 6537Mi >shop.yaml",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, files []string) error { return p.importCache(files, *options) },
	}
	flags := command.Flags()
	flags.StringVar(&options.memory, "memory", "",
		"Memory for items of one server: limit_maxbytes in its stats. "+
			"Required for ElastiCache, whose descriptions do not have it.")
	flags.StringVar(&options.Chart, "chart", "",
		"Chart of the values: "+strings.Join(migrate.Charts, ", ")+". Defaults to a guess from the values.")
	flags.StringVar(&options.Release, "release", "", "Name of the Helm release; values do not have it.")
	flags.StringVar(&options.ReleaseNamespace, "release-namespace", "",
		"Namespace of the Helm release. Without --namespace, the Memcached gets this namespace, too.")
	flags.StringVar(&options.clientHash, "client-hash", "",
		"How clients choose the slot of a key, as spec.slots.clientHash: "+owner.Hashes()+".")
	complete := func(flag string, from ...string) { // The flags exist.
		_ = command.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(from, cobra.ShellCompDirectiveNoFileComp))
	}
	complete("chart", migrate.Charts...)
	complete("client-hash", strings.Split(owner.Hashes(), ", ")...)
	return command
}

// importCache prints the Memcacheds of the caches that a file, or stdin, describes.
func (p *plugin) importCache(files []string, options importOptions) error {
	hash := clienthash.Algorithm(options.clientHash)
	if hash != "" && !slices.Contains(clienthash.Algorithms, hash) {
		return fmt.Errorf("--client-hash %q is unknown: write one of %s", hash, owner.Hashes())
	}
	options.Namespace, options.ClientHash = *p.flags.Namespace, cachev1.ClientHash(hash)
	if options.memory != "" {
		memory, err := resource.ParseQuantity(options.memory)
		if err != nil {
			return fmt.Errorf("--memory %q is no quantity, write one such as 1Gi: %w", options.memory, err)
		}
		options.Memory = &memory
	}
	content, err := p.input(files)
	if err != nil {
		return err
	}
	manifests, reports, err := migrate.Translate(content, options.Options)
	if err != nil {
		return err
	}
	for _, report := range reports {
		fmt.Fprintln(p.ErrOut, report)
	}
	_, err = io.WriteString(p.Out, manifests)
	return err
}

// input reads a file, or stdin. It refuses a terminal that is not named explicitly, because the user has probably
// forgotten the input.
func (p *plugin) input(files []string) ([]byte, error) {
	if len(files) > 0 && files[0] != "-" {
		return os.ReadFile(files[0])
	}
	if file, ok := p.In.(*os.File); ok && len(files) == 0 && term.IsTerminal(int(file.Fd())) {
		return nil, errors.New("FILE is missing: name a file with values, or pipe them into this command")
	}
	return io.ReadAll(p.In)
}
