// Package preflight finds out whether a machine can run a local cluster, says at once all that it
// lacks, and installs what it may.
package preflight

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// State is a need, and whether this machine has it.
type State struct {
	Program   string `json:"program"`
	Package   string `json:"package"`
	Why       string `json:"why"`
	Installed bool   `json:"installed"`
}

// Look finds out which of the needs this machine has.
func Look(needs []Need) []State {
	m := thisMachine()
	states := make([]State, len(needs))
	for i, need := range needs {
		states[i] = State{Program: need.Program, Package: need.Package, Why: need.Why, Installed: m.has(need)}
	}
	return states
}

// Ensure makes the machine fit for a cluster, or says in one error all that stands against it.
func Ensure(ctx context.Context, needs []Need, mayInstall bool) error {
	m := thisMachine()
	missing := m.missing(needs)
	if problem := m.verdict(missing, mayInstall); problem != nil {
		return problem
	}
	if len(missing) == 0 {
		return nil
	}
	if err := install(ctx, missing); err != nil {
		return err
	}
	return m.verdict(m.missing(needs), false)
}

// Program finds a program of the system, also where the search path of an ordinary user doesn't look.
func Program(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return search(name, "/usr/local/sbin", "/usr/sbin", "/sbin")
}

// CNIDir finds the folder of the network plugins.
func CNIDir() (string, error) {
	path, err := search("ptp", "/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni")
	return filepath.Dir(path), err
}

func search(name string, dirs ...string) (string, error) {
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is in none of %s: %w", name, strings.Join(dirs, " "), fs.ErrNotExist)
}

// machine is what counts about a machine. Tests make others than the one they run on.
type machine struct {
	os   string
	root bool
	has  func(Need) bool
}

func thisMachine() machine {
	return machine{os: runtime.GOOS, root: os.Geteuid() == 0, has: func(need Need) bool {
		if !need.CNI {
			_, err := Program(need.Program)
			return err == nil
		}
		dir, err := CNIDir()
		if err != nil {
			return false
		}
		_, err = search(need.Program, dir)
		return err == nil
	}}
}

func (m machine) missing(needs []Need) []Need {
	var missing []Need
	for _, need := range needs {
		if !m.has(need) {
			missing = append(missing, need)
		}
	}
	return missing
}

// verdict is nil when all is there, or will be once the missing is installed.
func (m machine) verdict(missing []Need, mayInstall bool) error {
	var problems []string
	if m.os != "linux" {
		problems = append(problems, fmt.Sprintf("Linux is needed, for its namespaces (this is %s): "+
			"use a Linux machine or a virtual one", m.os))
	}
	if !m.root {
		problems = append(problems, "root is needed, to make namespaces and mounts: run the command with sudo")
	}
	if !mayInstall || !m.has(apt) || len(problems) > 0 {
		for _, need := range missing {
			problems = append(problems, fmt.Sprintf("%s is missing, which %s", need.Program, need.Why))
		}
		if len(missing) > 0 {
			problems = append(problems, "install what is missing: apt-get install "+strings.Join(packages(missing), " "))
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return errors.New("this machine can't run the cluster:\n  - " + strings.Join(problems, "\n  - "))
}

func packages(needs []Need) []string {
	var names []string
	seen := map[string]bool{}
	for _, need := range needs {
		if !seen[need.Package] {
			seen[need.Package] = true
			names = append(names, need.Package)
		}
	}
	return names
}
