package plan

// The Job that restores a snapshot into a new cache.

import (
	"encoding/json"
	"fmt"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// WantedSnapshot returns the snapshot that a cache is filled with; nil if the spec has none.
func WantedSnapshot(mc *cachev1.Memcached) *cachev1.BootstrapSnapshot {
	return orZero(mc.Spec.Bootstrap).From.Snapshot
}

// FromServers returns the bootstrap of a cache that is filled from other servers; nil if the cache is not filled from
// servers.
func FromServers(mc *cachev1.Memcached) *cachev1.Bootstrap {
	if WantedSnapshot(mc) != nil {
		return nil
	}
	return mc.Spec.Bootstrap
}

// IsRestored reports whether the snapshot that a cache is filled with was restored.
func IsRestored(mc *cachev1.Memcached) bool {
	wanted := WantedSnapshot(mc)
	return wanted != nil && mc.Status.RestoredSnapshot == wanted.Name
}

// SourceOf encodes the snapshot that the spec of a cache restores, and the client hash, to compare both with those that
// a Job was created for.
func SourceOf(mc *cachev1.Memcached) string {
	text, err := json.Marshal(struct {
		*cachev1.BootstrapSnapshot `json:",inline"`

		ClientHash cachev1.ClientHash `json:"clientHash,omitempty"`
	}{WantedSnapshot(mc), orZero(mc.Spec.Slots).ClientHash})
	if err != nil {
		panic(err) // The spec was decoded from JSON.
	}
	return string(text)
}

// ResolveRestore returns the snapshot to be restored into a cache, or why the restore cannot begin yet. busy is the Job
// that saves the cache now; empty if no Job does.
func ResolveRestore(
	mc *cachev1.Memcached, busy string, isSecretMissing bool, defaults Defaults,
) (Snapshot, *Unmet) {
	wanted := WantedSnapshot(mc)
	switch unmet := unready(mc); {
	case unmet != nil:
		return Snapshot{}, unmet
	case mc.Spec.Suspend:
		return Snapshot{}, notReady(mc, "spec.suspend is true")
	case len(mc.Status.Slots) == 0:
		return Snapshot{}, notReady(mc, "it reports no slots yet")
	case busy != "":
		return Snapshot{}, notReady(mc, fmt.Sprintf("Job %q saves it now", busy))
	case isSecretMissing:
		return Snapshot{}, missingSecret("spec.bootstrap.from.snapshot", wanted.SnapshotTarget, mc.Namespace)
	}
	s := snapshotOf(mc, handoff(mc.Spec).BytesPerSecond, defaults)
	s.Job, s.Owner = names.Restore(mc.Name), Owner{"Memcached", mc.Name, mc.UID}
	s.SnapshotName, s.Place = wanted.Name, wanted.SnapshotTarget
	s.Restores, s.Source, s.Hash = true, SourceOf(mc), string(orZero(mc.Spec.Slots).ClientHash)
	return s, nil
}

// restoreProblems finds the reasons why a snapshot can't be restored.
func restoreProblems(mc *cachev1.Memcached) []string {
	var problems []string
	if mc.Spec.Slots == nil {
		problems = append(problems, "spec.bootstrap.from.snapshot needs spec.slots, "+
			"because each server gets its items by the name of its slot: set spec.slots, or remove spec.bootstrap")
	}
	if name := names.Restore(mc.Name); len(name) > longestName {
		problems = append(problems, longName("bootstrap", name, mc.Name))
	}
	return problems
}
