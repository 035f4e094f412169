//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"syscall"
)

var errNoLinux = errors.New("a cluster with a real Node needs Linux; on other systems, use `up --nodes simulated`")

// Create fails, because only Linux has control groups.
func Create(string) error { return errNoLinux }

// Remove does nothing, because there are no control groups.
func Remove(context.Context, string) error { return nil }

// Attributes returns attributes that start a process in its own session.
func Attributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// Enter fails, because only Linux can isolate a process in this way.
func Enter(string, []string, string, []string) error { return errNoLinux }

// Reap does nothing, because this process is not the first one of a namespace.
func Reap(func(pid int) bool) {}

// Snapshotter returns no name, because a cluster on such a system has no containerd.
func Snapshotter(string) string { return "" }
