// Command load uses the cache client of Thanos, Loki or Mimir as the program does, with the file of its recipe.
package main

import (
	"os"

	"github.com/example-inc/memcached-operator/test/clients/load"
)

// program is one of the programs of docs/recipes. Each returns a fetch that failed in its own way: see its file.
type program struct {
	name    string
	module  string // has the client, and its version
	connect func(recipe []byte, servers []string) (load.Cache, error)
}

// programs are chosen by the environment.
var programs = map[string]program{
	"thanos": {"Thanos", "github.com/thanos-io/thanos", newThanos},
	"loki":   {"Loki", "github.com/grafana/loki/v3", newLoki},
	"mimir":  {"dskit", "github.com/grafana/dskit", newMimir},
}

func main() {
	use, known := programs[os.Getenv("CLIENT")]
	if !known {
		load.Exit("CLIENT is none of thanos, loki, mimir")
	}
	cache, err := use.connect([]byte(os.Getenv("RECIPE")), load.Servers())
	if err != nil {
		load.Exit(err)
	}
	load.Run(cache, load.Version(use.name, use.module))
}
