package preflight

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/example-inc/memcached-operator/scripts/progress"
)

// install has apt-get install what is missing. It names all of it before it begins.
func install(ctx context.Context, missing []Need) error {
	names := packages(missing)
	progress.Note(ctx, "This needs %s of your distribution, which apt-get installs now: %s",
		count(len(names), "package"), strings.Join(names, " "))
	return progress.Stage(ctx, "Install packages", func(update func(string)) error {
		allow, err := denyServices(policy)
		if err != nil {
			return err
		}
		defer allow()
		update("the lists of packages")
		if err := run(ctx, "apt-get", "update"); err != nil {
			return fmt.Errorf("%w\n%s", err, mirrors)
		}
		update(strings.Join(names, " "))
		// An interrupted apt-get would leave packages half installed, so this step is always finished.
		ctx := context.WithoutCancel(ctx)
		if err := run(ctx, "apt-get", append(installArguments(), names...)...); err != nil {
			return fmt.Errorf("%w\n%s", err, mirrors)
		}
		return disableServices(ctx, missing)
	})
}

// mirrors is what to do where apt-get failed. It also says "Unable to locate package" where it reached no mirror: its
// update ends well without one.
const mirrors = "Look whether this machine reaches the mirrors of its distribution (apt-get update), and run it again."

// installArguments wait for another apt-get, such as that of a machine's daily upgrades.
func installArguments() []string {
	return []string{"install", "--yes", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"}
}

func run(ctx context.Context, program string, args ...string) error {
	command := exec.CommandContext(ctx, program, args...)
	command.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C on the terminal does not reach it.
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", command, err, out)
	}
	return nil
}

// disableServices keeps the services of new packages from starting with the machine. Their programs are all that is
// needed.
func disableServices(ctx context.Context, installed []Need) error {
	var errs []error
	for _, need := range installed {
		if need.Service == "" {
			continue
		}
		if _, err := os.Stat("/etc/init.d/" + need.Service); errors.Is(err, fs.ErrNotExist) {
			continue // It was not installed, or brings no service here.
		}
		errs = append(errs, run(ctx, "update-rc.d", need.Service, "disable"))
	}
	return errors.Join(errs...)
}

// policy is asked by Debian's packages before they start their service.
const policy = "/usr/sbin/policy-rc.d"

// denyServices keeps packages such as redis-server from starting a service that nobody asked for. A policy that the
// machine has already stays.
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

// count writes a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
