package handoff

import (
	"fmt"

	"github.com/example-inc/memcached-operator/operator/clienthash"
)

// Relist returns the Move of the items whose server changes when clients get a list with another number of servers. The
// servers are those of the longer list, in its order, with the names that clients have for them.
func Relist(algorithm clienthash.Algorithm, names []string, dials []Dial, before, after int) (Move, error) {
	longer := max(before, after)
	if len(names) != longer || len(dials) != longer || min(before, after) < 1 || before == after {
		return Move{}, fmt.Errorf("a list of %d servers cannot become one of %d servers, with %d names and %d addresses",
			before, after, len(names), len(dials))
	}
	from, err := clienthash.New(algorithm, names[:before])
	if err != nil {
		return Move{}, err
	}
	to, err := clienthash.New(algorithm, names[:after])
	if err != nil {
		return Move{}, err
	}
	move := Move{
		Of:      func(key []byte) (int, int) { return from(key), to(key) },
		Sources: upTo(before), Targets: upTo(after), Share: 1 - float64(min(before, after))/float64(longer),
	}
	switch shorter := min(before, after); {
	case longer-shorter > 1 || !clienthash.KeepsOthers(algorithm, shorter):
		move.Share = 1
	case before < after:
		move.Targets = []int{before}
	default:
		move.Sources, move.Share = []int{after}, 1
	}
	for number := after; number < before; number++ {
		move.Leaving = append(move.Leaving, number)
	}
	for number, dial := range dials {
		member := Member{Side: Old, Name: names[number], Dial: dial}
		if move.isTarget(number) && !move.isSource(number) {
			member.Side = New
		}
		move.Servers = append(move.Servers, member)
	}
	return move, nil
}

func upTo(count int) []int {
	numbers := make([]int, count)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}
