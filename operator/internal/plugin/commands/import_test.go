package commands

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

var update = flag.Bool("update", false, "write the golden files and the examples in the docs")

// imports are the flags with which each file in ../migrate/testdata is imported. The files are written by hand, with
// the fields of the APIs of both cloud services and of the charts.
var imports = map[string][]string{
	"elasticache":  {"--namespace", "team", "--memory", "6537Mi"},
	"memorystore":  {"--namespace", "team"},
	"bitnami":      {"--chart", "bitnami", "--release", "sessions", "--release-namespace", "team", "--client-hash", "Ketama"},
	"cloudpirates": {"--release", "memcached", "--release-namespace", "old", "--namespace", "team"},
	"release":      {"--release", "sessions", "--release-namespace", "team"},
	"helmforge":    {"--release", "sessions", "--release-namespace", "team"},
}

func TestImportedManifestsMatchTheirGoldenFiles(t *testing.T) {
	for name, arguments := range imports {
		manifest, reports, err := importFile(t, "../migrate/testdata/"+name+".json", arguments...)
		if err != nil {
			t.Fatal(err)
		}
		page.Golden(t, "../migrate/testdata/"+name+".yaml", manifest, *update)
		page.Golden(t, "../migrate/testdata/"+name+".txt", reports, *update)
		var memcached cachev1.Memcached
		if err := yaml.UnmarshalStrict([]byte(manifest), &memcached); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTheDocsShowAnImport checks that a page shows the manifest and the reports of an import. The API server validates
// the manifest, like the manifests of all pages.
func TestTheDocsShowAnImport(t *testing.T) {
	for file, input := range map[string]string{"leaving.md": "memorystore", "migrating.md": "release"} {
		manifest, reports := page.Read(t, "../migrate/testdata/"+input+".yaml"), page.Read(t, "../migrate/testdata/"+input+".txt")
		page.Tables(t, "../../../../docs/"+file, *update, map[string]string{
			"example": "```yaml\n" + manifest + "```\n\n```text\n" + reports + "```\n",
		})
	}
}

func TestWhatCannotBeImportedIsAnError(t *testing.T) {
	const cluster = `{"CacheClusters": [{"CacheClusterId": "a", "Engine": "memcached", "CacheNodeType": "cache.t4g.micro",
		"NumCacheNodes": 1, "CacheNodes": [{"Endpoint": {"Address": "a.0001", "Port": 11211}}]}, OTHER]}`
	tests := map[string]struct{ input, arguments, want string }{
		"the memory of a node type": {
			strings.Replace(cluster, ", OTHER", "", 1), "",
			"give --memory; this command prints its value:\nprintf 'stats\\r\\nquit\\r\\n' | nc a.0001 11211",
		},
		"the memory of a node type with TLS": {
			strings.NewReplacer(", OTHER", "", `"NumCacheNodes"`, `"TransitEncryptionEnabled": true, "NumCacheNodes"`).
				Replace(cluster), "",
			"| openssl s_client -quiet -connect a.0001:11211 | grep limit_maxbytes",
		},
		"a quantity that is none": {cluster, "--memory=much", `--memory "much" is no quantity`},
		"a cluster of Valkey": {
			strings.Replace(cluster, "OTHER", `{"CacheClusterId": "b", "Engine": "valkey"}`, 1), "--memory=1Gi", "b is a cluster of valkey",
		},
		"another node type": {
			strings.Replace(cluster, "OTHER", `{"CacheClusterId": "b", "Engine": "memcached", "CacheNodeType": "cache.m6g.large"}`,
				1), "--memory=1Gi", "the node type of b differs",
		},
		"a name of no Service": {`{"name": "projects/p/locations/l/instances/1a", "nodeCount": 1}`, "", `the name "1a" of the cache`},
		"a parameter that is no number": {
			`{"name": "a", "nodeCount": 1, "parameters": {"params": {"max-item-size": "1m"}}}`, "",
			"parameter max-item-size",
		},
		"values without a release": {"architecture: high-availability\n", "", "give --release and --release-namespace"},
		"values without a chart":   {"replicaCount: 3\n", "--release=a --release-namespace=b", "name it by --chart"},
		"values of two charts": {
			"architecture: high-availability\ndeploymentType: StatefulSet\n", "--release=a --release-namespace=b", "name it by --chart",
		},
		"a chart that is not known": {"{}", "--chart=stable --release=a --release-namespace=b", `--chart "stable" is unknown: write one of`},
		"a hash that is none":       {"{}", "--client-hash=md5", `--client-hash "md5" is unknown: write one of Ketama`},
		"a value of another type": {
			"nodeSelector: [a]", "--chart=bitnami --release=a --release-namespace=b", "nodeSelector: json: cannot unmarshal",
		},
		"a number of Pods that is none": {
			"replicaCount: many", "--chart=bitnami --release=a --release-namespace=b", `replicaCount "many": not a number`,
		},
		"a serverless cache": {`{"ServerlessCaches": []}`, "", "the input has neither CacheClusters"},
		"text":               {"CACHECLUSTERS\ta", "", "the input is no JSON"},
		"other values":       {"a: b\n", "", "for helm get values, give --chart"},
		"nothing":            {"\n", "", "the input is empty"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			file := t.TempDir() + "/input"
			if err := os.WriteFile(file, []byte(tc.input), 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, err := importFile(t, file, strings.Fields(tc.arguments)...)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("the error is %v, not %q", err, tc.want)
			}
		})
	}
}

// importFile executes the command with a file as its standard input.
func importFile(t *testing.T, file string, arguments ...string) (manifests, reports string, err error) {
	t.Helper()
	input, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = input.Close() })
	var out, reported bytes.Buffer
	root := New(genericiooptions.IOStreams{In: input, Out: &out, ErrOut: &reported}, "1.2.3")
	root.SetArgs(append([]string{"import"}, arguments...))
	err = root.ExecuteContext(t.Context())
	return out.String(), reported.String(), err
}
