//go:build e2e

package arch

import (
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

// TestEachOperatorOfTheIndexStarts runs what a node of each architecture gets when it pulls the index.
func TestEachOperatorOfTheIndexStarts(t *testing.T) {
	for _, platform := range oci.Platforms() {
		t.Run(platform.String(), func(t *testing.T) {
			image := pull(t, operatorIndex, platform)
			logSize(t, image)
			m := unpack(t, image)
			out, err := m.command(t.Context(), m.entrypoint(), 65532, "--version").CombinedOutput()
			if err != nil || strings.TrimSpace(string(out)) != version {
				t.Errorf("it prints %q, want %q; error %v", out, version, err)
			}
		})
	}
}
