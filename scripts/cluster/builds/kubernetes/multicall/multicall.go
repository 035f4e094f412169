// Package multicall lets one file be several programs.
package multicall

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Main runs the program that the file was called as.
func Main(calledAs string, programs map[string]func()) {
	run, ok := programs[filepath.Base(calledAs)]
	if !ok {
		known := strings.Join(slices.Sorted(maps.Keys(programs)), ", ")
		fmt.Fprintf(os.Stderr, "this file acts by its name: call it as one of %s, not as %q\n", known, calledAs)
		os.Exit(2)
	}
	run()
}
