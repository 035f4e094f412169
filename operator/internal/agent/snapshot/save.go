package snapshot

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/peer"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
	"github.com/example-inc/memcached-operator/operator/internal/agent/snapshot/format"
)

// Save is a snapshot to be made.
type Save struct {
	Store   Store
	Name    string // of the snapshot
	Cache   string // its name, for people
	Servers []Server

	// Once: a snapshot of the name that is whole already is the result, as an earlier attempt may have ended after it was
	// written.
	Once bool

	// Pace limits the bytes of keys and values.
	Pace *handoff.Pace

	Progress Progress
}

// Run saves one server after another. A snapshot of the name that is whole is an error, unless it is that of an earlier
// attempt; an unfinished one is replaced.
func (s *Save) Run(ctx context.Context) (format.Manifest, error) {
	written, err := readManifest(ctx, s.Store, s.Name)
	switch {
	case err == nil && s.Once && written.Cache == s.Cache:
		return manifest(ctx, s.Store, s.Name)
	case err == nil:
		return format.Manifest{}, fmt.Errorf("the snapshot %q exists: choose another name, or delete it", s.Name)
	case !errors.Is(err, ErrMissing):
		return format.Manifest{}, fmt.Errorf("%s: %w", objectName(s.Name, manifestName), err)
	}
	head := format.Head{Snapshot: rand.Text(), Cache: s.Cache, Time: now()}
	var sizes []int64
	for _, server := range s.Servers {
		items, size, err := holds(ctx, server)
		if err != nil {
			return format.Manifest{}, err
		}
		head.Slots, sizes = append(head.Slots, server.Name), append(sizes, size)
		s.Progress.Total.Add(items)
	}
	m := format.Manifest{Version: format.Version, Snapshot: head.Snapshot, Cache: s.Cache, Time: head.Time}
	for i, server := range s.Servers {
		head.Slot = server.Name
		slot, err := s.server(ctx, server, head, sizes[i])
		if err != nil {
			return m, err
		}
		m.Slots = append(m.Slots, slot)
	}
	m.Ended = now()
	content, err := m.Encode()
	if err != nil {
		return m, err
	}
	return m, s.write(ctx, manifestName, int64(len(content)), func(to io.Writer) error {
		_, err := to.Write(content)
		return err
	})
}

// now is the time as documents have it.
func now() time.Time { return time.Now().UTC().Truncate(time.Second) }

// holds returns how many items and bytes a server has by its statistics. It waits until the server answers.
func holds(ctx context.Context, server Server) (items, bytes int64, err error) {
	stats, err := statistics(ctx, server)
	if err != nil {
		return 0, 0, err
	}
	items, _ = strconv.ParseInt(stats["curr_items"], 10, 64)
	bytes, _ = strconv.ParseInt(stats["bytes"], 10, 64)
	return items, bytes, nil
}

// statistics returns those of a server that answers, and an error if an agent copies its keys: with two lists of keys,
// memcached can stand still (see handoff.Read), and the copy fails if the log of memcached loses lines, of which each
// item that is added has one.
func statistics(ctx context.Context, server Server) (map[string]string, error) {
	err := peer.Reach(ctx, handoff.Member{Side: handoff.Old, Name: server.Name, Dial: server.Dial}, peer.Patience)
	if err != nil {
		return nil, err
	}
	connection, err := server.Dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", server.Name, err)
	}
	defer connection.Close()
	stats, err := protocol.New(connection).Stats(ctx, "")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", server.Name, err)
	}
	if watchers := stats["log_watchers"]; watchers != "" && watchers != "0" {
		return nil, fmt.Errorf("%s: a client watches its log, as an agent does that copies its keys: wait until the "+
			"rollout, the scaling or the bootstrap has ended", server.Name)
	}
	return stats, nil
}

// server saves the items of one server.
func (s *Save) server(ctx context.Context, server Server, head format.Head, size int64) (format.Slot, error) {
	slot := format.Slot{Name: server.Name}
	if _, err := statistics(ctx, server); err != nil { // again: a rollout may have begun
		return slot, err
	}
	err := s.write(ctx, server.Name, size, func(to io.Writer) error {
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
			return fmt.Errorf("%s: %w", server.Name, err)
		}
		slot.LeftOut = format.LeftOut(unread)
		slot.End, err = w.Close()
		slot.Size = object.bytes
		return err
	})
	return slot, err
}

// write writes an object. After an error it does not exist.
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
