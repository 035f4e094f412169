package slot

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/example-inc/memcached-operator/operator/internal/agent/peer"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
)

// oldestPatch is the patch version of the oldest memcached that slots can use, 1.6.40: an older one takes
// worker_logbuf_size for the sizes of its slabs, too, so that each item takes 8 KiB (memcached's issue 1245).
const oldestPatch = 40

// CheckVersion waits until memcached answers, and returns an error if it is too old for slots.
func (m *Memcached) CheckVersion(ctx context.Context) error {
	for {
		version, err := m.version(ctx)
		if err == nil {
			return checkVersion(version)
		}
		if err := peer.Pause(ctx); err != nil {
			return err
		}
	}
}

func (m *Memcached) version(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, protocol.Timeout)
	defer cancel()
	connection, err := m.Own(ctx)
	if err != nil {
		return "", err
	}
	defer connection.Close()
	answer, err := protocol.New(connection).Ask(ctx, "version\r\n")
	return strings.TrimPrefix(answer, "VERSION "), err
}

// checkVersion returns an error for a version that is too old. It accepts versions that it cannot parse, because they
// may be versions of a fork, or of a future memcached.
func checkVersion(version string) error {
	if isTooOld(version) {
		return fmt.Errorf("memcached %s is too old for slots: "+
			"use an image with memcached 1.6.%d or later, or remove spec.slots", version, oldestPatch)
	}
	return nil
}

func isTooOld(version string) bool {
	text, is16 := strings.CutPrefix(version, "1.6.")
	if !is16 {
		return strings.HasPrefix(version, "1.5.") || strings.HasPrefix(version, "1.4.")
	}
	digits := text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
	patch, err := strconv.Atoi(digits)
	return err == nil && patch < oldestPatch
}
