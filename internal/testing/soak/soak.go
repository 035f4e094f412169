// Package soak leaves tests out of what each landing runs: those that take minutes, and of which others find most. They
// run by make e2e-all, a part of make soak and of the workflow of each night.
package soak

import "testing"

// Only skips the rest of a test with -short, as each landing has it. Instead says what finds most of the defects there.
func Only(t testing.TB, instead string) {
	t.Helper()
	if testing.Short() {
		t.Skipf("make e2e-all runs it. In the meantime: %s", instead)
	}
}
