package screen

// The screen of what a flush removes.

import (
	"fmt"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/load"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/reach"
)

// HoldsOf converts answers to the content of servers, for Flush.
func HoldsOf(answers []reach.Answer[load.Sample]) []Load {
	var held []Load
	for _, answer := range answers {
		l := Load{Server: answer.Server, Error: Text(answer.Err)}
		if answer.Err == nil {
			l.Load = load.Of(nil, answer.Value)
		}
		held = append(held, l)
	}
	return held
}

// Flush prints what a flush removes.
func (s Screen) Flush(held []Load, dryRun bool) error {
	var rows [][]string
	var keys, used int64
	for _, l := range held {
		row := []string{l.Slot, l.Pod, unknown, unknown}
		if l.Error == "" {
			row = []string{l.Slot, l.Pod, fmt.Sprint(l.Items), Size(l.Used)}
			keys, used = keys+l.Items, used+l.Used
		}
		rows = append(rows, row)
	}
	if err := s.table([]string{"Slot", "Pod", "Keys", "Bytes"}, rows, false); err != nil {
		return err
	}
	for _, l := range held {
		s.unreached(l.Server, l.Error)
	}
	all := "in total" // A question follows.
	if dryRun {
		all = "would be removed (dry run)"
	}
	_, err := fmt.Fprintf(s, "\n%d keys with %s %s\n", keys, Size(used), all)
	return err
}
