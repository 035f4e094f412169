package screen

// The screen of the slots of keys.

import "github.com/example-inc/memcached-operator/operator/internal/plugin/owner"

// Owners prints which slot has which key.
func (s Screen) Owners(owners []owner.Owner) error {
	var rows [][]string
	for _, o := range owners {
		rows = append(rows, []string{printable(o.Key), o.Slot, o.Address, o.Pod, o.State, o.Hash})
	}
	return s.table([]string{"Key", "Slot", "Address", "Pod", "State", "Hash"}, rows, false)
}
