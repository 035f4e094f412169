//go:build e2e

package arch

import (
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

// TestEachProgramOfTheIndexesStarts runs the programs of the image that a Node of each architecture gets when it pulls
// an index.
func TestEachProgramOfTheIndexesStarts(t *testing.T) {
	for name, program := range map[string]struct{ index, version string }{
		"operator": {operatorIndex, version}, "agent": {agentIndex, agentVersion},
		"snapshot": {snapshotIndex, version},
	} {
		for _, platform := range oci.Platforms() {
			t.Run(name+" on "+platform.String(), func(t *testing.T) {
				image := pull(t, program.index, platform)
				logSize(t, image)
				m := unpack(t, image)
				programs := m.programs()
				last := len(programs) - 1
				out, err := m.command(t.Context(), programs[last], 65532, "--version").CombinedOutput()
				if err != nil || strings.TrimSpace(string(out)) != program.version {
					t.Errorf("it prints %q, want %q; error %v", out, program.version, err)
				}
				for _, supervisor := range programs[:last] { // Under emulation, a supervisor can't start another program.
					out, err := m.command(t.Context(), supervisor, 65532).CombinedOutput()
					if !strings.HasPrefix(string(out), "Usage: supervisor PROGRAM") {
						t.Errorf("%s prints %q; error %v", supervisor, out, err)
					}
				}
			})
		}
	}
}
