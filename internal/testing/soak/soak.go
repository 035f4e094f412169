// Package soak leaves tests out of what each landing runs: those that take minutes, and of which others find most. They
// run in make soak, and each night (.github/workflows/nightly.yaml).
package soak

import "testing"

// Only skips the rest of a test, unless `make soak` runs it, or `make e2e SHORT=`. Instead says what finds most of the
// defects in each landing.
func Only(t testing.TB, instead string) {
	t.Helper()
	if testing.Short() {
		t.Skipf("make soak runs it, as does make e2e SHORT=. In the meantime: %s", instead)
	}
}
