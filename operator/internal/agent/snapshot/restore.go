package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/example-inc/memcached-operator/operator/clienthash"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/snapshot/format"
)

// Restore is a snapshot to be restored.
type Restore struct {
	Store   Store
	Name    string
	Servers []Server // in the order in which clients list them

	// Hash is the hash by which clients choose a server for a key, from the addresses of the servers. Without it, each
	// server gets the items that the server with the same name had.
	Hash clienthash.Algorithm

	// Pace limits the bytes of keys and values per second.
	Pace *handoff.Pace

	Progress Progress
}

// place returns the index, in Restore.Servers, of the server that gets an item with this key that was saved from this
// slot.
type place func(slot string, key []byte) int

// Run adds the items to the servers, one object after another, and replaces no item that a server already has. If the
// snapshot is not whole according to its manifest, nothing is restored. A damaged object is found only while it is
// read: Run then returns an error, and the servers have the items of earlier blocks.
func (r *Restore) Run(ctx context.Context) (format.Manifest, handoff.Added, error) {
	m, err := manifest(ctx, r.Store, r.Name)
	if err != nil {
		return m, handoff.Added{}, err
	}
	of, err := r.places(m)
	if err != nil {
		return m, handoff.Added{}, err
	}
	r.Progress.Total.Store(m.Total().Items)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var adders []*handoff.Adder
	for _, server := range r.Servers {
		if _, err := statistics(ctx, server); err != nil {
			return m, handoff.Added{}, err
		}
		adder, err := handoff.NewAdder(ctx, server.Dial)
		if err != nil {
			return m, handoff.Added{}, about(server, err)
		}
		adders = append(adders, adder)
	}
	err = r.add(ctx, m, adders, of)
	added, ended := r.end(adders)
	switch {
	case err == nil:
		err = ended // later errors follow from the first one
	case added.Items > 0:
		err = fmt.Errorf("%w. %d items were sent before this error: each item that the cache has added is complete, "+
			"but other items of the snapshot may be missing", err, added.Items)
	}
	return m, added, err
}

// add adds the items of all objects.
func (r *Restore) add(ctx context.Context, m format.Manifest, adders []*handoff.Adder, of place) error {
	for _, slot := range m.Slots {
		err := each(ctx, r.Store, r.Name, m, slot, func(i format.Item) error {
			to := of(slot.Name, i.Key)
			r.Progress.add(i)
			if err := adders[to].Add(handoff.Item(i)); err != nil {
				return about(r.Servers[to], err)
			}
			return r.Pace.Wait(ctx, int64(len(i.Key)+len(i.Value)))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// end waits until the servers have all items, and returns the sums of what all adders counted.
func (r *Restore) end(adders []*handoff.Adder) (total handoff.Added, err error) {
	for i, adder := range adders {
		added, ended := adder.Close()
		total.Items += added.Items
		total.Bytes += added.Bytes
		total.Kept += added.Kept
		total.Refused += added.Refused
		total.Expired += added.Expired
		if ended != nil {
			err = errors.Join(err, about(r.Servers[i], ended))
		}
	}
	return total, err
}

// places returns the function that chooses the server for an item.
func (r *Restore) places(m format.Manifest) (place, error) {
	var names, addresses []string
	for _, server := range r.Servers {
		names, addresses = append(names, server.Name), append(addresses, server.Address)
	}
	if r.Hash != "" {
		choose, err := clienthash.New(r.Hash, addresses)
		return func(_ string, key []byte) int { return choose(key) }, err
	}
	had := m.Names()
	if !slices.Equal(slices.Sorted(slices.Values(had)), slices.Sorted(slices.Values(names))) {
		return nil, fmt.Errorf("the snapshot has the servers %s, but --server names %s: name the same servers. "+
			"Or set --client-hash, and repeat --server in the order in which clients list the servers, "+
			"with the addresses that clients use",
			strings.Join(had, ", "), strings.Join(names, ", "))
	}
	return func(slot string, _ []byte) int { return slices.Index(names, slot) }, nil
}
