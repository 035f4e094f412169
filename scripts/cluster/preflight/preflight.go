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

	"github.com/example-inc/memcached-operator/scripts/progress"
)

// Need is something that has to be on the machine.
type Need struct {
	Program string // on the search path, or a CNI plugin where CNI is set
	CNI     bool
	Package string // of Debian and its kin
	Why     string
}

// Cluster is what the parts of a cluster call that doesn't come from Go modules.
func Cluster(withArgoCD bool) []Need {
	needs := []Need{
		{Program: "git", Package: "git", Why: "holds the repository that Argo CD follows"},
		{Program: "runc", Package: "runc", Why: "starts containers for containerd"},
		{Program: "nft", Package: "nftables", Why: "kube-proxy writes its rules with it"},
		{Program: "mount", Package: "mount", Why: "the kubelet mounts volumes with it"},
		{Program: "ptp", CNI: true, Package: "containernetworking-plugins", Why: "gives Pods their network"},
		{Program: "host-local", CNI: true, Package: "containernetworking-plugins", Why: "gives Pods their addresses"},
		{Program: "loopback", CNI: true, Package: "containernetworking-plugins", Why: "gives Pods their localhost"},
	}
	if withArgoCD {
		needs = append(needs, Need{Program: "redis-server", Package: "redis-server", Why: "is Argo CD's cache"})
	}
	return needs
}

// Memcached is what the memcached image is made from.
func Memcached() []Need {
	return []Need{
		{Program: "memcached", Package: "memcached", Why: "is what goes into the image"},
	}
}

// Ensure makes the machine fit for a cluster, or says in one error all that stands against it.
func Ensure(ctx context.Context, needs []Need, install bool) error {
	m := thisMachine()
	missing := m.missing(needs)
	if problem := m.verdict(missing, install); problem != nil {
		return problem
	}
	if len(missing) == 0 {
		return nil
	}
	if err := aptInstall(ctx, packages(missing)); err != nil {
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
func (m machine) verdict(missing []Need, install bool) error {
	var problems []string
	if m.os != "linux" {
		problems = append(problems, fmt.Sprintf("Linux is needed, for its namespaces (this is %s): "+
			"use a Linux machine or a virtual one", m.os))
	}
	if !m.root {
		problems = append(problems, "root is needed, to make namespaces and mounts: run the command with sudo")
	}
	if !install || !m.has(Need{Program: "apt-get"}) || len(problems) > 0 {
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

func aptInstall(ctx context.Context, packages []string) error {
	return progress.Stage(ctx, "Install packages", func(update func(string)) error {
		allow, err := denyServices(policy)
		if err != nil {
			return err
		}
		defer allow()
		commands := [][]string{
			{"update"},
			append([]string{"install", "--yes", "--no-install-recommends"}, packages...),
		}
		for _, args := range commands {
			update(strings.Join(args, " "))
			apt := exec.CommandContext(ctx, "apt-get", args...)
			apt.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
			if out, err := apt.CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w\n%s", apt, err, out)
			}
		}
		return nil
	})
}

// policy is asked by Debian's packages before they start their service.
const policy = "/usr/sbin/policy-rc.d"

// denyServices keeps packages such as redis-server from leaving a service running that nobody asked
// for. A policy that the machine has already is its own.
func denyServices(policy string) (allow func(), err error) {
	file, err := os.OpenFile(policy, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	_, err = file.WriteString("#!/bin/sh\nexit 101\n")
	return func() { os.Remove(policy) }, errors.Join(err, file.Close())
}
