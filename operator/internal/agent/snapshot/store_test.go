package snapshot

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"
)

// memory is a store that is less reliable than a bucket: an object exists as far as it was written, even if its writer
// was not closed.
type memory struct {
	mutex   sync.Mutex
	objects map[string][]byte

	// left is the number of writes after which the process counts as killed. Half of the last write is then in the store.
	// If left is -1, the process is not killed.
	left int
}

var errKilled = errors.New("killed")

func newMemory() *memory { return &memory{objects: map[string][]byte{}, left: -1} }

func (m *memory) Create(_ context.Context, name string, _ int64) (io.WriteCloser, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.left == 0 {
		return nil, errKilled
	}
	m.objects[name] = nil
	return &object{m, name}, nil
}

// Add is less reliable than the Add of a real bucket: it may store only half of the object.
func (m *memory) Add(ctx context.Context, name string, content []byte) error {
	if _, ok := m.objects[name]; ok {
		return ErrExists
	}
	to, err := m.Create(ctx, name, 0)
	if err != nil {
		return err
	}
	if _, err := to.Write(content); err != nil {
		return err
	}
	return to.Close()
}

func (m *memory) Remove(_ context.Context, name string) {
	if m.left != 0 { // A killed process removes nothing.
		delete(m.objects, name)
	}
}

func (m *memory) Open(_ context.Context, name string) (io.ReadCloser, error) {
	content, ok := m.objects[name]
	if !ok {
		return nil, ErrMissing
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

func (m *memory) Size(_ context.Context, name string) (int64, error) {
	content, ok := m.objects[name]
	if !ok {
		return 0, ErrMissing
	}
	return int64(len(content)), nil
}

func (m *memory) List(context.Context) ([]string, error) {
	return slices.Sorted(maps.Keys(m.objects)), nil
}

// copy returns a store with the same objects.
func (m *memory) copy() *memory { return &memory{objects: maps.Clone(m.objects), left: -1} }

type object struct {
	in   *memory
	name string
}

func (o *object) Write(part []byte) (int, error) {
	o.in.mutex.Lock()
	defer o.in.mutex.Unlock()
	switch o.in.left {
	case 0:
		return 0, errKilled
	case 1:
		part = part[:len(part)/2]
	}
	o.in.objects[o.name] = append(o.in.objects[o.name], part...)
	if o.in.left > 0 {
		o.in.left--
	}
	if o.in.left == 0 {
		return len(part), errKilled
	}
	return len(part), nil
}

func (o *object) Close() error {
	if o.in.left == 0 {
		return errKilled
	}
	return nil
}
