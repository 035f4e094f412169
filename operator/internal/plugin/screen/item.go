package screen

// The screen of the items of a key.

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/item"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/reach"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/traffic"
)

// Item is the item that a server has for a key, or why it is unknown.
type Item struct {
	reach.Server
	item.Item

	Error string `json:"error,omitempty"`
}

// ItemsOf converts answers to Items.
func ItemsOf(answers []reach.Answer[item.Item]) []Item {
	var items []Item
	for _, answer := range answers {
		items = append(items, Item{answer.Server, answer.Value, Text(answer.Err)})
	}
	return items
}

// Text returns the text of an error; empty if there is none.
func Text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Items prints the items of a key, and the values that were read. Values are printed as Go strings, because they may
// have any bytes.
func (s Screen) Items(items []Item) error {
	var rows [][]string
	for _, i := range items {
		row := []string{i.Slot, i.Pod, "no", "", "", "", "", ""}
		switch {
		case i.Error != "":
			row[2] = unknown
		case i.Found:
			ttl := "never"
			if i.TTL != nil {
				ttl = duration.HumanDuration(i.TTL.Duration)
			}
			row = []string{
				i.Slot, i.Pod, "yes", fmt.Sprint(i.Size), ago(i.LastAccess.Duration), yesNo(i.Read), ttl, fmt.Sprint(i.Flags),
			}
		}
		rows = append(rows, row)
	}
	columns := []string{"Slot", "Pod", "Found", "Size", "Last Access", "Read", "Expires In", "Flags"}
	if err := s.table(columns, rows, false); err != nil {
		return err
	}
	for _, i := range items {
		s.unreached(i.Server, i.Error)
		if i.Value != nil {
			fmt.Fprintf(s, "\nValue in Pod %s:\n%q\n", i.Pod, i.Value)
		}
	}
	return nil
}

// unknown is a cell in the row of a server that did not answer. Its error is below the table.
const unknown = "unknown"

// Unreached prints the errors of servers that did not answer.
func Unreached[T any](s Screen, answers []reach.Answer[T]) {
	for _, answer := range answers {
		s.unreached(answer.Server, Text(answer.Err))
	}
}

// Ended prints why the log of a server was not read for the whole time, if it was not.
func (s Screen) Ended(server reach.Server, seen traffic.Seen) {
	if seen.Ended != "" {
		fmt.Fprintf(s, "\n%s: the log was read for %s only: %s\n", s.painted("Pod "+server.Pod, Red),
			seen.Took.Round(time.Millisecond), printers.EscapeTerminal(seen.Ended))
	}
}

func (s Screen) unreached(server reach.Server, err string) {
	if err != "" {
		fmt.Fprintf(s, "\n%s: %s\n", s.painted("Pod "+server.Pod, Red), printers.EscapeTerminal(err))
	}
}

func ago(since time.Duration) string { return duration.HumanDuration(since) + " ago" }

func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}
