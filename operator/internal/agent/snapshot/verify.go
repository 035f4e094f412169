package snapshot

import (
	"context"

	"github.com/example-inc/memcached-operator/operator/internal/agent/snapshot/format"
)

// Verify is a snapshot to be verified.
type Verify struct {
	Store Store
	Name  string

	Progress Progress
}

// Run reads all of a snapshot, and returns an error unless it is whole.
func (v *Verify) Run(ctx context.Context) (format.Manifest, error) {
	m, err := manifest(ctx, v.Store, v.Name)
	if err != nil {
		return m, err
	}
	v.Progress.Total.Store(m.Total().Items)
	for _, slot := range m.Slots {
		err := each(ctx, v.Store, v.Name, m, slot, func(i format.Item) error {
			v.Progress.add(i)
			return nil
		})
		if err != nil {
			return m, err
		}
	}
	return m, nil
}
