package snapshot

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/snapshot/format"
)

// Save is a snapshot to be made.
type Save struct {
	Store   Store
	Name    string // the name of the snapshot
	Cache   string // the name of the cache, by which a snapshot without an owner is recognized
	Owner   string // for whom the snapshot is made, because several owners may choose the same name
	Servers []Server

	// Once is whether Run accepts an existing whole snapshot with the same name and owner as its result: an earlier
	// attempt may have been stopped just after it wrote that snapshot. If there is no owner, the cache and the servers
	// must be the same instead.
	Once bool

	// Pace limits the bytes of keys and values per second.
	Pace *handoff.Pace

	Progress Progress
}

// Run saves one server after another. It never replaces a snapshot with the same name, nor an object of another
// attempt.
func (s *Save) Run(ctx context.Context) (format.Manifest, error) {
	if earlier, err := s.earlier(ctx); !errors.Is(err, ErrMissing) {
		return earlier, err
	}
	m := format.Manifest{Version: format.Version, Snapshot: rand.Text(), Cache: s.Cache, Owner: s.Owner, Time: now()}
	if err := s.servers(ctx, &m); err != nil {
		s.remove(ctx, m)
		return m, err
	}
	m.Ended = now()
	return s.publish(ctx, m)
}

// earlier returns the existing snapshot with the name of this save, if Once allows it as the result. The error is
// ErrMissing if there is no snapshot with that name.
func (s *Save) earlier(ctx context.Context) (format.Manifest, error) {
	written, err := readManifest(ctx, s.Store, s.Name)
	if err != nil {
		return format.Manifest{}, fmt.Errorf("%s: %w", objectName(s.Name, manifestName), err)
	}
	of, want := identity(written.Owner, written.Cache, written.Names()), identity(s.Owner, s.Cache, s.names())
	switch {
	case of != want:
		return format.Manifest{}, fmt.Errorf("the snapshot %q exists: choose another name, or delete it. It was made "+
			"for %s, and not for %s", s.Name, of, want)
	case !s.Once:
		return format.Manifest{}, fmt.Errorf("the snapshot %q exists: choose another name, or delete it", s.Name)
	}
	return manifest(ctx, s.Store, s.Name)
}

// identity returns a text that says to whom a snapshot belongs. It is for messages, and for comparing two snapshots.
func identity(owner, cache string, servers []string) string {
	if owner != "" {
		return fmt.Sprintf("the owner %q", owner)
	}
	return fmt.Sprintf("the cache %q with the servers %s, without an owner", cache, strings.Join(servers, ", "))
}

func (s *Save) names() (names []string) {
	for _, server := range s.Servers {
		names = append(names, server.Name)
	}
	return names
}

// servers saves all servers, and adds them to the manifest, including a server that was not saved in full.
func (s *Save) servers(ctx context.Context, m *format.Manifest) error {
	var all []state
	for _, server := range s.Servers {
		stats, err := statistics(ctx, server)
		if err != nil {
			return err
		}
		found := stateOf(stats)
		all = append(all, found)
		s.Progress.Total.Add(found.items)
	}
	head := format.Head{Snapshot: m.Snapshot, Cache: m.Cache, Time: m.Time, Slots: s.names()}
	for i, server := range s.Servers {
		head.Slot = server.Name
		m.Slots = append(m.Slots, format.Slot{Name: server.Name, Object: server.Name + "." + m.Snapshot})
		if err := s.server(ctx, server, head, all[i], &m.Slots[i]); err != nil {
			return err
		}
	}
	return nil
}

// publish writes the manifest, unless another attempt was faster: the snapshot of that attempt may then be the result.
func (s *Save) publish(ctx context.Context, m format.Manifest) (format.Manifest, error) {
	content, err := m.Encode()
	if err != nil {
		return m, err
	}
	err = s.Store.Add(ctx, objectName(s.Name, manifestName), content)
	if !errors.Is(err, ErrExists) {
		return m, err // The manifest may be written despite an error, so the objects stay.
	}
	written, err := readManifest(ctx, s.Store, s.Name)
	if err != nil {
		return m, fmt.Errorf("%s: %w", objectName(s.Name, manifestName), err)
	}
	if written.Snapshot == m.Snapshot { // The library of the store has repeated a request whose answer was lost.
		return m, nil
	}
	s.remove(ctx, m)
	return s.earlier(ctx)
}

// remove removes the objects of a failed attempt, if the store allows it.
func (s *Save) remove(ctx context.Context, m format.Manifest) {
	const patience = 10 * time.Second // how long a user who has stopped the program waits at most
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	for _, slot := range m.Slots {
		s.Store.Remove(ctx, objectName(s.Name, slot.Object))
	}
}

// now returns the time in the form in which objects and manifests have it.
func now() time.Time { return time.Now().UTC().Truncate(time.Second) }

// server saves the items of one server. It returns an error if the server restarts, and so loses items.
func (s *Save) server(ctx context.Context, server Server, head format.Head, began state, slot *format.Slot) error {
	if err := began.unchanged(ctx, server); err != nil {
		return err
	}
	if err := untilListsEnd(ctx, server); err != nil {
		return err
	}
	return s.write(ctx, slot.Object, began.bytes, func(to io.Writer) error {
		object := &counted{to: to}
		w, err := format.NewWriter(object, head)
		if err != nil {
			return err
		}
		unread, err := handoff.Read(ctx, server.Dial, s.Pace, func(read handoff.Item) error {
			i := format.Item(read)
			s.Progress.add(i)
			return w.Write(i)
		})
		if err != nil {
			return about(server, err)
		}
		slot.LeftOut = format.LeftOut(unread)
		if slot.End, err = w.Close(); err != nil {
			return err
		}
		slot.Size = object.bytes
		return began.unchanged(ctx, server)
	})
}

// write writes an object. After an error, the object does not exist.
func (s *Save) write(ctx context.Context, name string, size int64, content func(io.Writer) error) error {
	ctx, abandon := context.WithCancel(ctx)
	defer abandon()
	to, err := s.Store.Create(ctx, objectName(s.Name, name), size)
	if err != nil {
		return err
	}
	if err := content(to); err != nil {
		abandon()
		_ = to.Close()
		return err
	}
	return to.Close()
}

// counted counts the bytes of an object.
type counted struct {
	to    io.Writer
	bytes int64
}

func (c *counted) Write(part []byte) (int, error) {
	n, err := c.to.Write(part)
	c.bytes += int64(n)
	return n, err
}
