package handoff

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Member is a memcached that takes part in a handoff.
type Member struct {
	// Side is the beginning of reasons of a Failure about this memcached: Old or New.
	Side string

	// Name is the name of this memcached in the text of a Failure. It may be empty.
	Name string

	Dial Dial
}

// Values of Member.Side.
const (
	Old = "Old"
	New = "New"
)

// Move says which items move between which servers. A server is identified by its index in Servers.
type Move struct {
	Servers []Member

	// Of returns the server that has a key, and the server that is to have it: the same one if the key stays. It is called
	// for each key and for each line of a log, by several goroutines at the same time.
	Of func(key []byte) (from, to int)

	// Sources are the servers that a key may leave, and Targets those that may get one. All keys leave the servers in
	// Leaving, which are about to end.
	Sources, Targets, Leaving []int

	// Share is the approximate part of the sources' items that moves, from 0 to 1.
	Share float64

	// whole is whether all items of one server move to an unused one. Then the servers can be emptied, and need not be
	// searched for the keys that move.
	whole bool

	// external is whether the sources are no Pods of the cache. Such sources do not announce their end, and no other Pod
	// empties the targets of a copy that is given up. See source.go.
	external bool
}

// Whole returns the Move of all items from the old memcached to the new one.
func Whole(old, next Dial) Move {
	return Move{
		Servers: []Member{{Side: Old, Dial: old}, {Side: New, Dial: next}},
		Sources: []int{0}, Leaving: []int{0}, Targets: []int{1}, Share: 1, whole: true,
		Of: func([]byte) (from, to int) { return 0, 1 },
	}
}

// isTarget reports whether a server may get keys.
func (m Move) isTarget(server int) bool { return slices.Contains(m.Targets, server) }

// isSource reports whether a key may leave a server.
func (m Move) isSource(server int) bool { return slices.Contains(m.Sources, server) }

// arrives reports whether a server is to have a key that another one has.
func (m Move) arrives(raw []byte, server int) bool {
	from, to := m.Of(raw)
	return from != to && to == server
}

// leaves reports whether a key is to leave a server.
func (m Move) leaves(raw []byte, server int) bool {
	from, to := m.Of(raw)
	return from != to && from == server
}

// mayShare reports whether any key may leave one of two servers for the other.
func (m Move) mayShare(one, other int) bool {
	return one != other && (m.isSource(one) && m.isTarget(other) || m.isSource(other) && m.isTarget(one))
}

// isShared reports whether a key leaves one of two servers for the other.
func (m Move) isShared(raw []byte, one, other int) bool {
	from, to := m.Of(raw)
	return from != to && (from == one && to == other || from == other && to == one)
}

// moves reports whether a key leaves a server or gets there.
func (m Move) moves(raw []byte, server int) bool {
	return m.arrives(raw, server) || m.leaves(raw, server)
}

// cleanWithin is how long clean may take.
func (m Move) cleanWithin() time.Duration {
	if m.whole {
		return emptyWithin
	}
	return searchWithin
}

// clean removes from each target the keys that move to it. If both is true, it also removes from each source the keys
// that leave it.
func (m Move) clean(ctx context.Context, both bool) error {
	if m.whole {
		if both {
			_ = Empty(ctx, m.Servers[0].Dial) // it may have ended
		}
		return Empty(ctx, m.Servers[1].Dial)
	}
	errs := make([]error, len(m.Servers))
	var group sync.WaitGroup
	for number, server := range m.Servers {
		if both && m.isSource(number) || m.isTarget(number) {
			group.Go(func() {
				errs[number] = server.named(remove(ctx, server.Dial, func(raw []byte) bool {
					return m.arrives(raw, number) || both && m.leaves(raw, number)
				}))
			})
		}
	}
	group.Wait()
	return errors.Join(errs...)
}
