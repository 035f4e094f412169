// Package snapshot saves the keys of a cache in a store of objects, and restores and verifies what it saved.
//
// A snapshot with the name NAME has the objects NAME/SERVER.ATTEMPT, one for each server, and NAME/manifest.json, which
// is written last, lists the other objects, and is never replaced. Several attempts may write the same snapshot at the
// same time: for example, one in a Pod on a Node that was lost, and one in the next Pod. No attempt overwrites an
// object of another attempt. If the manifest is missing, or an object is not as the manifest describes it, the snapshot
// is not whole, and is not restored as if it were. See package format.
//
// Items are read and written one after another, so that memory does not grow with their number.
package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/snapshot/format"
)

// Store keeps objects by their names, which have slashes.
type Store interface {
	// Create writes an object of about this size. The object exists once the writer is closed, but not if the context
	// ended before that.
	Create(ctx context.Context, name string, size int64) (io.WriteCloser, error)

	// Add writes a small object, but never replaces one: if an object with this name exists, the error is ErrExists.
	Add(ctx context.Context, name string, content []byte) error

	// Remove removes an object. It is no error if the store forbids this, because nothing depends on the removal.
	Remove(ctx context.Context, name string)

	// Open reads an object. The error is ErrMissing if there is none.
	Open(ctx context.Context, name string) (io.ReadCloser, error)

	// Size returns the size of an object. The error is ErrMissing if there is none.
	Size(ctx context.Context, name string) (int64, error)

	// List returns the names of all objects.
	List(ctx context.Context) ([]string, error)
}

// Errors of a store.
var (
	ErrMissing = errors.New("it does not exist")
	ErrExists  = errors.New("it exists")
)

// Server is a server of a cache.
type Server struct {
	// Name is the name of the slot, and does not change when the server is replaced. The object in the store that has
	// the server's keys is named after it.
	Name string

	// Address is HOST:PORT, as clients write it.
	Address string

	Dial handoff.Dial
}

// Progress is how far a save, a restore or a verification is.
type Progress struct {
	Items, Bytes atomic.Int64 // items, and bytes of their keys and values
	Total        atomic.Int64 // items, if known
}

func (p *Progress) add(i format.Item) {
	p.Items.Add(1)
	p.Bytes.Add(int64(len(i.Key) + len(i.Value)))
}

// manifestName is the last part of the name of a manifest. No server has this name.
const manifestName = "manifest.json"

func objectName(snapshot, object string) string { return snapshot + "/" + object }

// ValidateName returns an error unless a text can be the name of a snapshot, or of a server, in all kinds of buckets.
func ValidateName(name string) error {
	const longest = 200
	allowed := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r)
	}
	other := strings.ContainsFunc(name, func(r rune) bool { return !allowed(r) })
	if other || name == "" || len(name) > longest || name[0] == '.' || name == manifestName {
		return fmt.Errorf("%q: write letters, digits, and -_. after the first one, at most %d", name, longest)
	}
	return nil
}

// manifest reads the manifest of a snapshot, and checks that all objects have the size in the manifest. So an object
// that was cut off is found before anything is restored.
func manifest(ctx context.Context, store Store, name string) (format.Manifest, error) {
	m, err := readManifest(ctx, store, name)
	switch {
	case errors.Is(err, ErrMissing):
		return m, missing(ctx, store, name)
	case err != nil:
		return m, fmt.Errorf("%s: %w", objectName(name, manifestName), err)
	}
	for _, slot := range m.Slots {
		object := objectName(name, slot.Object)
		size, err := store.Size(ctx, object)
		if err == nil && size != slot.Size {
			err = fmt.Errorf("it has %d bytes, but the manifest says %d: it was cut off, or another attempt to save wrote it",
				size, slot.Size)
		}
		if err != nil {
			return m, fmt.Errorf("%s: %w", object, err)
		}
	}
	return m, nil
}

func readManifest(ctx context.Context, store Store, name string) (format.Manifest, error) {
	from, err := store.Open(ctx, objectName(name, manifestName))
	if err != nil {
		return format.Manifest{}, err
	}
	defer from.Close()
	return format.ReadManifest(from)
}

// missing returns an error for a snapshot that does not exist. The error names the existing snapshots.
func missing(ctx context.Context, store Store, name string) error {
	objects, err := store.List(ctx)
	if err != nil {
		return fmt.Errorf("there is no whole snapshot %q, and the others cannot be listed: %w", name, err)
	}
	var whole []string
	unfinished := false
	for _, object := range objects {
		snapshot, last, _ := strings.Cut(object, "/")
		if last == manifestName {
			whole = append(whole, snapshot)
		}
		unfinished = unfinished || snapshot == name
	}
	slices.Sort(whole)
	const most = 20
	text := "There are no whole snapshots"
	if len(whole) > 0 {
		text = "The whole snapshots are " + strings.Join(whole[max(0, len(whole)-most):], ", ")
	}
	if unfinished {
		return fmt.Errorf("the snapshot %q is not whole, because the save was not finished. %s", name, text)
	}
	return fmt.Errorf("there is no snapshot %q. %s", name, text)
}

// each calls found for each item of a server's object, and returns once the object is known to be whole.
func each(
	ctx context.Context, store Store, name string, m format.Manifest, slot format.Slot, found func(format.Item) error,
) error {
	object := objectName(name, slot.Object)
	from, err := store.Open(ctx, object)
	if err != nil {
		return fmt.Errorf("%s: %w", object, err)
	}
	defer from.Close()
	if err := eachOf(from, m, slot, found); err != nil {
		return fmt.Errorf("%s: %w", object, err)
	}
	return nil
}

func eachOf(from io.Reader, m format.Manifest, slot format.Slot, found func(format.Item) error) error {
	r, err := format.NewReader(from)
	if err != nil {
		return err
	}
	defer r.Close()
	if r.Head.Snapshot != m.Snapshot || r.Head.Slot != slot.Name {
		return fmt.Errorf("it is the object of %s, from another snapshot or another attempt to save", r.Head.Slot)
	}
	for {
		i, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := found(i); err != nil {
			return err
		}
	}
	if end := r.End(); end != slot.End {
		return fmt.Errorf("it has %d items and the checksum %.12s, but the manifest says %d items and the checksum %.12s",
			end.Items, end.SHA256, slot.Items, slot.SHA256)
	}
	return nil
}
