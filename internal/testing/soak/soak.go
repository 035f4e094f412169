// Package soak skips tests in the runs that come before each merge: tests that take minutes, and for which other tests
// find most of the same defects. The skipped tests run in make e2e-all, which is a part of make soak and of the
// workflow of each night.
package soak

import "testing"

// Only skips the rest of a test if -short is set, as it is in the runs before each merge. The parameter instead says
// which tests find most of the defects in such a run.
func Only(t testing.TB, instead string) {
	t.Helper()
	if testing.Short() {
		t.Skipf("make e2e-all runs it. In the meantime: %s", instead)
	}
}
