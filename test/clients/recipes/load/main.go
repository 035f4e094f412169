// Command load uses the cache client of Thanos, Loki or Mimir in the same way as that program, with the file of the
// program's recipe.
package main

import (
	"os"

	"github.com/example-inc/memcached-operator/test/clients/load"
)

// program is one of the programs of docs/recipes. Each of them reports a failed fetch in another way, which the comment
// in its file describes.
type program struct {
	name    string
	module  string // the Go module that contains the client, and whose version is printed
	connect func(recipe []byte, servers []string) (load.Cache, error)
}

// programs has the programs by name. The environment says which one runs.
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
