// Package programs has stand-ins for the programs that images are built of.
package programs

import (
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/tree"
)

// AgentVersion is the version of the agent that Write writes.
const AgentVersion = "7.8.9"

// Write writes a module with stand-ins at the paths of the programs that images are built of, and returns its folder.
// The stand-ins do nothing, so they build in little time. They are for tests of how images are packed, whatever the
// programs do.
func Write(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	const program = "package main\n\nvar version = \"unknown\"\n\nfunc main() { println(version) }\n"
	tree.Write(t, dir, map[string]string{
		"go.mod":                                "module github.com/example-inc/memcached-operator\n\ngo 1.26\n",
		"operator/cmd/manager/main.go":          program,
		"operator/cmd/agent/main.go":            program,
		"operator/cmd/agent/VERSION":            AgentVersion + "\n",
		"operator/cmd/agent/supervisor/main.go": program,
		"scripts/images/pause/main.go":          program,
	})
	return dir
}
