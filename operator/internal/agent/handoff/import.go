package handoff

import (
	"fmt"

	"github.com/example-inc/memcached-operator/operator/clienthash"
)

// Ring is a list of servers, with the hash by which clients choose one of them for a key.
type Ring struct {
	Hash clienthash.Algorithm

	// Names are the names of the servers that clients hash, as HOST:PORT.
	Names []string

	// Dials connect to the servers, in the same order.
	Dials []Dial
}

// Import returns the Move of all items from memcacheds that are no Pods of the cache to the servers of another list. In
// Move.Servers, the sources come first.
func Import(from, to Ring) (Move, error) {
	source, err := from.chooser()
	if err != nil {
		return Move{}, fmt.Errorf("the servers to copy from: %w", err)
	}
	target, err := to.chooser()
	if err != nil {
		return Move{}, fmt.Errorf("the servers to copy to: %w", err)
	}
	sources := len(from.Names)
	move := Move{
		Of:      func(key []byte) (int, int) { return source(key), sources + target(key) },
		Servers: append(from.members(Old), to.members(New)...),
		Sources: upTo(sources), Share: 1, external: true,
	}
	for number := sources; number < len(move.Servers); number++ {
		move.Targets = append(move.Targets, number)
	}
	return move, nil
}

func (r Ring) chooser() (clienthash.Chooser, error) {
	if len(r.Names) != len(r.Dials) {
		return nil, fmt.Errorf("%d names and %d addresses", len(r.Names), len(r.Dials))
	}
	return clienthash.New(r.Hash, r.Names)
}

func (r Ring) members(side string) []Member {
	members := make([]Member, len(r.Names))
	for i, name := range r.Names {
		members[i] = Member{Side: side, Name: name, Dial: r.Dials[i]}
	}
	return members
}
