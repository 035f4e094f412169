//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"syscall"
)

var errNoLinux = errors.New("a cluster with a real Node needs Linux: `up --nodes simulated` makes one without it")

// Create has no other system to make control groups on.
func Create(string) error { return errNoLinux }

// Remove finds nothing.
func Remove(context.Context, string) error { return nil }

// Attributes are those of a process with its own session.
func Attributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// Enter has no other system to isolate a process on.
func Enter(string, []string, string, []string) error { return errNoLinux }

// Reap has no namespace to be the first process of.
func Reap(func(pid int) bool) {}

// Snapshotter is not requested.
func Snapshotter(string) string { return "" }
