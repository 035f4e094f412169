package builds

import (
	"strings"
	"testing"
)

func TestEveryBinaryOfASimulatedClusterIsPinned(t *testing.T) {
	for _, b := range Simulated() {
		if version, err := Version(b); err != nil || !strings.HasPrefix(version, "v") {
			t.Errorf("Version(%s) = %q, %v", b.Name, version, err)
		}
	}
}
